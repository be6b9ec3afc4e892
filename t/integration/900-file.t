#!/usr/bin/perl
# Tools whose result is a file, with and without `root`.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
mkdir "$dir/notes" or die $!;
mkdir "$dir/notes/sub" or die $!;
$tg->file('secret', 'secret');
$tg->file('notes/a.csv', "# A \"b\"\n");
$tg->file('notes/sub/b c.csv', 'b');
$tg->file('notes/.dot', 'dot');
$tg->file('notes/latin', "caf\xe9");
$tg->file('notes/list.json', '{"a":[1, 2]}');
symlink '../../secret', "$dir/notes/sub/out" or die $!;
symlink '../a.csv', "$dir/notes/sub/in" or die $!;
$tg->file('notes/big', 'x' x 2_000_000);

$tg->conf(<<"END")->start;
tool fixed { file $dir/notes/a.csv; }
tool below { file sub/in; root $dir/notes; }
tool list { file $dir/notes/list.json; output json; }
tool big { file $dir/notes/big; max_output 4m; }
tool small { file $dir/notes/big; max_output 64k; }
tool latin { file $dir/notes/latin; }
tool note {
    input_schema '{"type":"object","properties":{"path":{"type":"string"}}}';
    file $dir/notes/\$tool_arg_path;
    root $dir/notes/;
}
tool any {
    input_schema '{"type":"object","properties":{"path":{"type":"string"}}}';
    file \$tool_arg_path;
    root $dir/notes dot_files;
}
method text { file $dir/notes/a.csv; output text; }
END

my $client = $tg->connect;

sub call { $client->call_tool(@_) }

is text_of(call('fixed')), "# A \"b\"\n", 'a file';
is text_of(call('below')), "# A \"b\"\n", 'a link below the root';
is_deeply call('list')->{result}{structuredContent}, { a => [ 1, 2 ] },
    'a file with JSON';
is length text_of(call('big')), 2_000_000, 'a large file';
is $tg->connect->rpc('text')->{result}, "# A \"b\"\n", 'a method';

for ([ small => qr/more than 65536 bytes \(max_output\)/ ],
    [ latin => qr/not UTF-8 text/ ])
{
    my $result = call($_->[0])->{result};
    ok $result->{isError}, "$_->[0] fails";
    like $result->{content}[0]{text}, $_->[1], 'and says why';
}

is text_of(call('note', { path => 'sub/b c.csv' })), 'b', 'a path below';
is text_of(call('any', { path => '.dot' })), 'dot', 'dot_files';
is text_of(call('any', { path => 'sub/in' })), "# A \"b\"\n", 'a relative path';
for my $path ('../secret', '/../secret', "$dir/secret", 'sub/out', 'sub', '',
    'none', "a.csv\0", 'sub/../a.csv', 'x' x 5000, 'sub//b c.csv')
{
    for my $tool (qw(note any)) {
        my $result = call($tool, { path => $path })->{result};
        ok $result->{isError}, "$tool of " . substr($path, 0, 20) . ' fails';
        my $text = $result->{content}[0]{text};
        like $text, qr/file does not exist/, 'it does not exist';
        unlike $text, qr/\Q$dir\E/, 'and no path is shown';
    }
}
ok call('note', { path => '.dot' })->{result}{isError}, 'no dot_files';

# A file that its owner has taken away since the start.
SKIP: {
    skip 'root may read everything', 3 if $> == 0;
    $tg->allow_log(qr/cannot read \Q$dir\E\/notes\/a\.md: Permission denied/);
    chmod 0, "$dir/notes/a.csv" or die $!;
    my $result = call('fixed')->{result};
    ok $result->{isError}, 'no permission';
    like $result->{content}[0]{text}, qr/has no permission/, 'it says so';
    unlike $result->{content}[0]{text}, qr/\Q$dir\E/, 'without the path';
}

done_testing;
