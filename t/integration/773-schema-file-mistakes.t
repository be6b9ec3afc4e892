#!/usr/bin/perl
# tool_schema_file without or with several owners, where another file is, or
# where nothing can be written.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $tool = 'tool a { return hi; }';
mkdir "$dir/folder" or die "mkdir: $!";
symlink "$dir/nginx.conf", "$dir/link" or die "symlink: $!";

my $two = 'server { listen unix:%%DIR%%/1.sock; tool_schema_file a.json; '
    . "$tool } server { listen unix:%%DIR%%/2.sock; "
    . "tool_schema_file a.json; $tool }";
for my $case (
    [ "tool_schema_file folder;\n$tool",
        qr/folder" of .* exists and is not a regular file; choose another/ ],
    [ "tool_schema_file link;\n$tool", qr/link" of .* not a regular file/ ],
    [ "tool_schema_file nowhere/a.json;\n$tool",
        qr{nowhere/a\.json" of .* is in a directory that does not exist} ],
    [ "tool_schema_file link/a.json;\n$tool",
        qr/is in a directory that does not exist/ ],
    [ "tool_schema_file a.json;\ntool_schema_file b.json;\n$tool",
        qr/"tool_schema_file" directive is duplicate/ ],
    [ "tool_schema_file '';\n$tool", qr/"tool_schema_file" .*needs a path/ ],
    [ "listen 127.0.0.1:1;\ntool_schema_file a.json;\n$tool",
        qr/needs exactly one "listen unix:", as the file.*; this .* has 0/ ],
    [ "listen unix:%%DIR%%/1.sock;\nlisten unix:%%DIR%%/2.sock;\n"
            . "tool_schema_file a.json;\n$tool",
        qr/needs exactly one "listen unix:", as the file.*; this .* has 2/ ],
    [ $two, qr/needs exactly one "listen unix:"/, server => 0 ],
    [ "$tool tool b { tool_schema_file a.json; return hi; }",
        qr/"tool_schema_file" directive is not allowed here/ ],
    [ "server { listen unix:%%SOCKET%%; $tool }",
        qr/"tool_schema_file" directive is not allowed here/,
        server => 0, stream => 'tool_schema_file a.json;' ],
    )
{
    my ($body, $pattern, %option) = @$case;
    conf_fails($tg, $body, $pattern, $body, %option);
}
is_deeply [ glob "$dir/*.json*" ], [], 'and nothing was written';

# A file that cannot be written is an error; running servers continue.
$tg->conf($tool)->start;
$tg->allow_log(qr/cannot be written \(tool_schema_file\)/);
mkdir "$dir/a.json~" or die "mkdir: $!";
$tg->conf("tool_schema_file a.json;\ntool b { return new; }");
my $from = $tg->log_size;
$tg->signal_reload;
$tg->wait_log(
    qr/a\.json" cannot be written \(tool_schema_file\) \(17: File exists/,
    10, $from);
pass 'a folder in the way is said';
wait_for {
    # An exiting worker may accept a connection.
    my $reply = eval { $tg->connect->call_tool('b') } or return 0;
    return (text_of($reply) // '') eq 'new';
} 'the new tools';
pass 'the tools are served all the same';
$tg->stop;
ok -l "$dir/link" && -d "$dir/folder", 'what else was there still is';

done_testing;
