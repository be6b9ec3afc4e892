#!/usr/bin/perl
# An output of 100 MB is read back completely by pages.

use Toolgate::Test;

use Digest::SHA;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $size = 100_000_000;
$tg->file('make', <<"END", 0755);
#!/usr/bin/perl
my \$part = join '', map { sprintf "%08d %s\\n", \$_, 'x' x 90 } 1 .. 1000;
print \$part for 1 .. 1000;
END
$tg->conf(<<"END")->start;
tool_spill 300m;
tool make { exec $dir/make; max_output 64k spill; }
END

my $c = $tg->connect;
my $text = text_of($c->call_tool('make'));
like $text, qr/\[the whole output has $size bytes in 1000000 lines;/,
    'it is kept';
my ($key) = $text =~ /"output":"(\w+)"/;

my $digest = Digest::SHA->new(1);
my ($offset, $got) = (0, 0);
while (1) {
    # Compared by hand: a decoder in Perl would take a minute for all of it.
    $c->request('tools/call', { name => 'toolgate_output', arguments =>
        { output => $key, offset => $offset, bytes => 1048576 } });
    my ($page, $note) = $c->recv_line =~ /"text":"([^"]*)".*"text":"(.*)"/;
    $page =~ s/\\n/\n/g;
    $digest->add($page);
    $got += length $page;
    $note =~ /continue with \\"offset\\": (\d+)/ or last;
    $offset = $1 + 0;
}
is $got, $size, 'all of it comes back';
my $part = join '', map { sprintf "%08d %s\n", $_, 'x' x 90 } 1 .. 1000;
my $wanted = Digest::SHA->new(1);
$wanted->add($part) for 1 .. 1000;
is $digest->hexdigest, $wanted->hexdigest, 'as it was';

# The last lines, and a rare pattern.
my $reply = $c->call_tool('toolgate_output',
    { output => $key, line => 999_999 });
like $reply->{result}{content}[0]{text}, qr/\A0*999 x+\n0*1000 x+\n\z/,
    'its last lines';
done_testing;
