#!/usr/bin/perl
# Mistakes in directives about results: each is found, with its line and the
# correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $handler = 'return hi;';

# Name, expected message, and the body of a server; the wrong line ends in "#!".
my @mistakes = (
    # output
    [
        'a type of text',
        qr/"output text" takes no type; only image, audio and file take one/,
        "tool a {\n exec true;\n output text a/b; #!\n}"
    ],
    [
        'an image without a type',
        qr/"output image" needs a type, such as "image\/png"/,
        "tool a {\n exec true;\n output image; #!\n}"
    ],
    [
        'an image that is none',
        qr/"output image" needs a type, such as "image\/png"/,
        "tool a {\n exec true;\n output image audio/wav; #!\n}"
    ],
    [
        'a file of no type',
        qr/"output file" needs a type, such as "application\/pdf"/,
        "tool a {\n exec true;\n output file pdf; #!\n}"
    ],
    [
        'bytes of a method',
        qr/method "a" outputs binary data, .*make it a tool/,
        "method a {\n exec true;\n output file a/b;\n} #!"
    ],
    [
        'bytes of nobody', qr/tool "a" outputs binary data, but has no "exec"/,
        "tool a {\n output audio audio/wav;\n $handler\n} #!"
    ],
    [
        'bytes with a schema', qr/tool "a" has an "output_schema" but outputs/,
        "tool a {\n exec true;\n output file a/b;\n"
            . " output_schema '{\"type\":\"object\"}';\n} #!"
    ],

    # max_output, preview, tool_spill
    [
        'an unknown word', qr/invalid value "keep" in "max_output"; .*"spill"/,
        "tool a {\n exec true;\n max_output 1m keep; #!\n}"
    ],
    [
        'a preview of nothing', qr/invalid size "0" in "preview"; .*32m/,
        "tool a {\n exec true;\n preview 0; #!\n}"
    ],
    [
        'a preview of what is never stored',
        qr/tool "a" has no "exec", "http", "pass" or "library", so "preview"/,
        "tool a {\n preview 1k;\n $handler\n} #!"
    ],
    [
        'a preview of bytes', qr/tool "a" outputs binary data, .*"output text"/,
        "tool a {\n exec true;\n preview 1k;\n output file a/b;\n} #!"
    ],
    [
        'a preview with a schema',
        qr/tool "a" has an "output_schema", which a preview cannot match/,
        "tool a {\n exec true;\n preview 1k;\n output json;\n"
            . " output_schema '{\"type\":\"object\"}';\n} #!"
    ],
    [
        'a preview of a method', qr/method "a" stores .*make it a tool/,
        "method a {\n exec true;\n preview 1k;\n output text;\n} #!"
    ],
    [
        'a quota that is none', qr/invalid size "much" in "tool_spill"/,
        "tool_spill much; #!\ntool a { exec true; preview 1k; }"
    ],
    [
        'a quota by its newer name',
        qr/invalid size "much" in "tool_output_store"/,
        "tool_output_store much; #!\ntool a { exec true; preview 1k; }"
    ],
    [
        'a quota by both names', qr/"tool_output_store" directive is duplicate/,
        "tool_spill 2m;\ntool_output_store 1m; #!\ntool a { exec true; }"
    ],
    [
        'a quota without room',
        qr/invalid size "1000k" in "tool_spill"; write a size of at least 1m/,
        "tool_spill 1000k; #!\ntool a { exec true; preview 1k; }"
    ],
    [
        'a time that is none', qr/invalid time "time=2d" in "tool_spill"/,
        "tool_spill 1g time=2d; #!\ntool a { exec true; preview 1k; }"
    ],

    # success, stderr
    [
        'a status that is none',
        qr/invalid status "256" in "success"; write numbers from 0 to 255/,
        "tool a {\n exec true;\n success 0 256; #!\n}"
    ],
    [
        'statuses twice', qr/"success" directive is duplicate/,
        "tool a {\n exec true;\n success 0;\n success 1; #!\n}"
    ],
    [
        'statuses of no program', qr/tool "a" has no "exec", so "success" has/,
        "tool a {\n success 0 1;\n $handler\n} #!"
    ],
    [
        'an unknown stderr',
        qr/invalid value "keep" in "stderr"; write one of error, drop, append/,
        "tool a {\n exec true;\n stderr keep; #!\n}"
    ],
    [
        'stderr behind JSON',
        qr/tool "a" appends stderr to .*write "output text", or "stderr error"/,
        "tool a {\n exec true;\n stderr append;\n output json;\n} #!"
    ],
);

my ($taken, $said) = $tg->test_conf(
    "tool toolgate_output { $handler }\ntool a { exec true; preview 1k; }");
isnt $taken, 0, 'a name that is ours is found';
like $said, qr/name "toolgate_output" is reserved by .*another name/,
    'and explained';

# After the outer blocks were read.
for ("tool a { exec true; preview 2m; }",
    "tool_max_output 1k;\ntool a { exec true; preview 2k; }",
    "tool a { exec true; preview 2k; max_output 1k; }",
    )
{
    conf_fails($tg, $_,
        qr/"a" has a "preview" that is larger than its "max_output", 1/);
}

for my $mistake (@mistakes) {
    my ($name, $pattern, $body) = @$mistake;
    conf_fails_at($tg, $body, $pattern, $name);
}

done_testing;
