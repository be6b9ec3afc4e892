#!/usr/bin/perl
# Mistakes in `file` and `root`: nginx -t finds each, with its line.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->file('a', 'a');
mkdir "$dir/sub" or die $!;
$tg->file('sub/b', 'b');

# The body of a tool whose wrong line ends in "#!", and the expected message.
my @mistakes = (
    [ 'file; #!', qr/number of arguments in "file"/ ],
    [ 'file ""; #!', qr/"file" needs a path/ ],
    [ "file $dir/a;\n return hi; #!", qr/second handler/ ],
    [ "file $dir/\$nope; #!\n root $dir;", qr/unknown variable "\$nope"/ ],
    [ "file $dir/\$tool_arg_x;\n} #!", qr/with variables, but no "root"/ ],
    [ "return hi;\n root $dir;\n} #!", qr/has "root" without "file"/ ],
    [ "file \$tool_arg_x;\n root ''; #!", qr/"root" needs a folder/ ],
    [ "file \$tool_arg_x;\n root /\$tool_arg_x; #!",
        qr/"root" must not have variables/ ],
    [ "file \$tool_arg_x;\n root $dir x; #!", qr/invalid parameter "x"/ ],
    [ "file \$tool_arg_x;\n root $dir;\n root $dir; #!", qr/is duplicate/ ],
    [ "file $dir/a;\n root $dir/sub;\n} #!", qr/path outside of "root"/ ],
    [ "file ${dir}b/\$tool_arg_x;\n root $dir;\n} #!",
        qr/path outside of "root"/ ],
    [ "file $dir;\n root $dir;\n} #!", qr/path outside of "root"/ ],
    [ "file $dir/none;\n} #!",
        qr/none" of "file" cannot be used.*No such file/ ],
    [ "file none;\n root $dir;\n} #!", qr/none" of "file" cannot be used/ ],
    [ "file $dir/sub;\n} #!", qr/sub" of "file" is not a file/ ],
    [ "file \$tool_arg_x;\n root $dir/none; #!",
        qr/none" of "root" cannot be used.*No such file/ ],
    [ "file \$tool_arg_x;\n root $dir/a; #!",
        qr/a" of "root" is not a folder/ ],
    [ "file $dir/a;\n output image image/png;\n} #!", qr/output/ ],
);

for (@mistakes) {
    my ($body, $message) = @$_;
    my $end = $body =~ /\n\} #!$/ ? '' : "\n}";
    conf_fails($tg, <<"END", $message, $body);
tool a {
 input_schema '{"type":"object","properties":{"x":{"type":"string"}}}';
 $body$end
END
}

# Only root has a user without access to what root can see.
SKIP: {
    skip 'for root only', 4 if $> != 0;
    my $nobody = Toolgate::Test->new(user => 'nobody');
    my $file = $nobody->file('a', 'a', 0600);
    conf_fails($nobody, "tool a { file $file; }",
        qr/"\S+a" of "file" cannot be read by "nobody"/, 'an unreadable file');
    my $folder = $nobody->dir . '/closed';
    mkdir $folder, 0700 or die $!;
    conf_fails($nobody, "tool a { file \$tool_arg_x; root $folder; }",
        qr/"\S+closed" of "root" cannot be entered by "nobody"/,
        'a folder that is closed');
}

my ($status, $text) = $tg->test_conf("tool a { file $dir/a; }\n"
        . "tool b { file sub/b; root $dir; }\n"
        . "tool c { file $dir/sub/b; root $dir/; }\n");
is $status, 0, 'good ones pass' or diag $text;

done_testing;
