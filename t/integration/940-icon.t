#!/usr/bin/perl
# `icon file=PATH`: the file is part of the lists, as it was when the config was
# loaded.

use MIME::Base64 qw(encode_base64);
use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $bytes = join '', map { chr } 0 .. 255;
my $svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
my $largest = 'x' x 65_536;
$tg->file('a.png', $bytes);
$tg->file('b.svg', $svg);
$tg->file('c.JPG', $largest);
my $dir = $tg->dir;
my $conf = <<"END";
tool_server_icon file=$dir/c.JPG;
tool a { icon file=a.png 48x48 dark; icon https://a.b/c.gif image/gif;
         description "A tool."; return hi; }
prompt b { icon file=b.svg any; message user hi; }
resource c:d { icon file=$dir/a.png; return hi; }
END
$tg->conf($conf)->start;

# The icon of a file.
sub icon {
    my ($type, $content, %more) = @_;
    return {
        src      => "data:$type;base64," . encode_base64($content, ''),
        mimeType => $type,
        %more,
    };
}

my $png = icon('image/png', $bytes, sizes => ['48x48'], theme => 'dark');
my $gif = { src => 'https://a.b/c.gif', mimeType => 'image/gif' };
my $client = $tg->connect;
is_deeply $client->rpc('initialize', { protocolVersion => '2025-11-25',
            capabilities => {}, clientInfo => { name => 't', version => 1 } })
    ->{result}{serverInfo}{icons}, [ icon('image/jpeg', $largest) ],
    'of the server, as large as it may be';

sub listed {
    my ($kind) = @_;
    return $client->rpc("$kind/list")->{result}{$kind}[0]{icons};
}
is_deeply listed('tools'), [ $png, $gif ], 'of a tool, beside another one';
is_deeply listed('prompts'), [ icon('image/svg+xml', $svg, sizes => ['any']) ],
    'of a prompt';
is_deeply listed('resources'), [ icon('image/png', $bytes) ],
    'of a resource, with a full path';

$tg->file('a.png', 'new');
is_deeply listed('tools'), [ $png, $gif ], 'a changed file is not read';
$tg->reload($conf);
is_deeply listed('resources'), [ icon('image/png', 'new') ],
    'before the next reload';

done_testing;
