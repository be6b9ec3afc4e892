package Toolgate::OddResults;

# Wrong results of tools of MCP servers: MCP's SDK rejects each of them, or
# loses its content.

use strict;
use warnings;

my $hi = '{"type":"text","text":"hi"}';

# By name: a result, its text as clients read it, and other members.
my %ODD = (
    nulls => [ '{"content":[{"type":"text","text":"hi","annotations":null,'
            . '"_meta":null}],"structuredContent":null,"isError":null,'
            . '"_meta":null}', 'hi' ],
    annotations => [ '{"content":[{"type":"text","text":"hi","annotations":'
            . '{"audience":"user","priority":7,"lastModified":"now"}}]}',
        'hi' ],
    alone  => [ '{"structuredContent":{"a":1}}', '{"a":1}', structured => 1 ],
    null   => [ '{"content":null}', undef ],
    object => [ qq({"content":$hi}), 'hi' ],
    string => [ '{"content":"hi"}', 'hi' ],
    strings => [ '{"content":["hi"]}', 'hi' ],
    json    => [ '{"content":[{"type":"json","json":{"a":1}}]}',
        '{"json":{"a":1},"type":"json"}' ],
    error => [ '{"content":[{"type":"error","text":"no"}],"isError":"true"}',
        'no', is_error => 1 ],
    typeless => [ '{"content":[{"text":"hi"}]}', 'hi' ],
    number   => [ '{"content":[{"type":"text","text":5}]}', '5' ],
    array    => [ qq({"content":[$hi],"structuredContent":[1]}), 'hi' ],
    bare     => [ '{"content":[],"structuredContent":[1]}', '[1]' ],
    link     => [ '{"content":[{"type":"resource_link","uri":"a:b",'
            . '"description":null}]}', undef ],
    resource => [ '{"content":[{"type":"resource","resource":'
            . '{"uri":"a:b","mimeType":null,"text":"x","blob":null}}]}',
        undef ],
    empty => [ '{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}',
        '{"resource":{"uri":"a:b"},"type":"resource"}' ],
    url => [ '{"content":[{"type":"image",'
            . '"data":"data:image/png;base64,AA=="}]}', undef ],
    meta  => [ qq({"content":[$hi],"_meta":"x","isError":0}), 'hi' ],
);

# Returns all of them: name, result, text, and other members.
sub all { return map { [ $_, @{ $ODD{$_} } ] } sort keys %ODD }

1;
