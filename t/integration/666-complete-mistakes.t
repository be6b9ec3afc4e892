#!/usr/bin/perl
# Mistakes in `complete` and `complete_rate`.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $prompt = "prompt p {\n argument x; return hi;\n";
my $folder = $tg->dir;

my @mistakes = (
    [
        'no value', qr/invalid number of arguments in "complete"/,
        "$prompt complete x; #!\n}"
    ],
    [
        'a tool',
        qr/"complete" has no effect in a tool; .*"input_schema"/,
        "tool t {\n description d; return hi;\n complete x a; #!\n}"
    ],
    [
        'a resource',
        qr/"complete" has no effect in a resource; .*"resource_template"/,
        "resource n:x {\n return hi;\n complete x a; #!\n}"
    ],
    [
        'an argument twice', qr/duplicate "complete x"; write all values/,
        "$prompt complete x a;\n complete x b; #!\n}"
    ],
    [
        'an unknown argument',
        qr/prompt "p" has no argument "y" to complete; declare it by "argum/,
        "$prompt complete y a; #!\n}"
    ],
    [
        'an unknown variable',
        qr/resource_template "n:\{z\}" has no argument "x" to complete; write/,
        "resource_template 'n:{z}' {\n return hi;\n complete x a; #!\n}"
    ],
    [
        'a value of two lines', qr/value of several lines/,
        "$prompt complete x 'a\nb'; #!\n}"
    ],
    [
        'an unknown program', qr/"nosuchprogram"/,
        "$prompt complete x exec nosuchprogram; #!\n}"
    ],
    [
        'a value in code', qr/\$tool_value/,
        "$prompt complete x exec sh -c 'ls \$tool_value'; #!\n}"
    ],
    [
        'an unknown variable in a value', qr/unknown variable "\$nosuch"/,
        "$prompt complete x \$nosuch; #!\n}"
    ],
    [
        'no folder',
        qr/"complete x files" needs the folder of the files; write it after/,
        "$prompt complete x files; #!\n}"
    ],
    [
        'a folder that is not there',
        qr{"/nosuch" of "complete" cannot be used},
        "$prompt complete x files /nosuch; #!\n}"
    ],
    [
        'a folder with a variable',
        qr/"complete" needs a folder without variables/,
        "$prompt complete x files /\$tool_arg_x; #!\n}"
    ],
    [
        'a file that is more than the argument',
        qr/"complete x files" needs the folder of the files/,
        "resource_template 'n:{x}' {\n file $folder/\$tool_arg_x.txt;\n"
            . " root $folder;\n complete x files; #!\n}"
    ],
    [
        'a bad rate', qr/invalid "complete_rate"; write a rate/,
        "$prompt complete_rate often; #!\n}"
    ],
    [
        'a rate in a tool', qr/"complete_rate" has no effect in a tool/,
        "tool t {\n description d; return hi;\n complete_rate 1r/s; #!\n}"
    ],
);

for my $mistake (@mistakes) {
    my ($name, $pattern, $body) = @$mistake;
    conf_fails($tg, $body, $pattern, $name);
}

my ($status, $out) = $tg->test_conf(<<"END");
prompt p { argument x; argument y; argument z; return hi;
    complete x exec; complete y files $folder;
    complete z exec ls -- \$tool_value; }
resource_template 'n:{+x}{?y}' { file \$tool_arg_x; root $folder;
    complete x files; complete y files exec more; complete_rate 5r/m burst=2; }
END
is $status, 0, 'a config without mistakes' or diag $out;
unlike $out, qr/\[warn\]/, 'has no warnings' or diag $out;

done_testing;
