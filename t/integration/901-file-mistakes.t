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
    [ "file \$tool_arg_x;\n root ''; #!", qr/"root" needs a folder without/ ],
    [ "file \$tool_arg_x;\n root /\$tool_arg_x; #!",
        qr/"root" needs a folder without variables/ ],
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

# The same for `resource_files`.
my $files = "resource_files $dir/sub";
my @file_mistakes = (
    [ "$files; #!", qr/"resource_files" has no uri=; write/ ],
    [ "$files max=1; #!", qr/has no uri=; write what the URIs/ ],
    [ "$files uri=; #!", qr/needs what the URIs/ ],
    [ "$files uri=a; #!", qr/invalid "uri=a" of "resource_files"/ ],
    [ "$files uri=/a/; #!", qr/invalid "uri=\/a\/"/ ],
    [ "$files 'uri=a:{x}'; #!", qr/begin with, without a variable/ ],
    [ "$files uri=a: uri=b:; #!", qr/invalid parameter "uri=b:"/ ],
    [ "$files uri=a: max=0; #!", qr/invalid "max=0".*from 1 to 1000000/ ],
    [ "$files uri=a: max=x; #!", qr/invalid "max=x"/ ],
    [ "$files uri=a: max=1000001; #!", qr/invalid "max=1000001"/ ],
    [ "$files uri=a: match=; #!", qr/pattern in "match=".*1 to 256 bytes/ ],
    [ "$files uri=a: hide=[a; #!", qr/pattern in "hide=\[a".*needs its \]/ ],
    [ "$files uri=a: match=/a; #!", qr/must not begin with a slash/ ],
    [ "$files uri=a: hidden; #!", qr/invalid parameter "hidden"/ ],
    [ "$files uri=a:;\n$files uri=a:; #!", qr/duplicate "uri=a:"/ ],
    [ "resource_files $dir/none uri=a:; #!", qr/none" of "resource/ ],
    [ "resource_files $dir/a uri=a:; #!", qr/is not a folder/ ],
    [ "resource_files $dir/\$x uri=a:; #!", qr/needs a folder without var/ ],
);
conf_fails($tg, $_->[0], $_->[1], $_->[0]) for @file_mistakes;

my ($status, $text) = $tg->test_conf("tool a { file $dir/a; }\n"
        . "tool b { file sub/b; root $dir; }\n"
        . "tool c { file $dir/sub/b; root $dir/; }\n"
        . "$files uri=a: match=*.md match=[ab]* hide=*~ recursive max=5;\n"
        . "$files/ uri=b:/// dot_files;\n");
is $status, 0, 'good ones pass' or diag $text;

done_testing;
