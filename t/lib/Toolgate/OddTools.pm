package Toolgate::OddTools;

# Wrong tools of MCP servers: because of any of them, MCP's SDK rejects the
# whole list.

use strict;
use warnings;

use Toolgate::Client;

# Values of the wrong type, for members that have a type.
my %WRONG = (
    title        => [ 'null', '5', '["x"]' ],
    description  => [ 'null', '5', '{}' ],
    icons        => [ 'null', '{}', '"x"', '[{}]', '[{"src":null}]',
        '[{"src":"data:,","sizes":"48x48"}]',
        '[{"src":"data:,","theme":"blue"}]' ],
    annotations  => [ 'null', '[]', '"x"', '{"readOnlyHint":null}',
        '{"destructiveHint":"yes"}', '{"title":5}' ],
    execution    => [ 'null', '[]', '{"taskSupport":null}',
        '{"taskSupport":"often"}' ],
    _meta        => [ 'null', '[]', '"x"' ],
    outputSchema => [ 'null', 'true', 'false', '[]', '"x"', '{}',
        '{"type":"array"}', '{"type":"string"}',
        '{"type":"object","properties":[]}',
        '{"type":"object","properties":{"a":true}}',
        '{"type":"object","properties":{"a":{"properties":[]}}}',
        '{"type":"object","required":null}',
        '{"type":"object","properties":{"a":{"type":"strin"}}}',
        '{"type":"object","properties":{"a":{"pattern":"(?i)x"}}}',
        '{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}',
        '{"type":"object","properties":{"a":{"items":null}}}' ],
    inputSchema  => [ 'null', 'true', 'false', '[]', '{}', '"x"',
        '{"type":"string"}', '{"type":["object","null"]}', '{"type":null}',
        map {"{\"type\":\"object\",$_}"} '"properties":[]',
        '"properties":null', '"properties":"x"', '"properties":[{}]',
        '"properties":{"a":true,"b":false}', '"properties":{"a":null}',
        '"properties":{"a":[]}', '"properties":{"a":"string"}',
        '"required":null', '"required":"x"', '"required":[]',
        '"required":[1,null]', '"required":["nowhere"]', '"required":{}',
        '"properties":{"a":{"properties":[],"items":[],"required":true}}',
        '"properties":{"a":{"items":[{}]}},"$schema":null' ],
);

# Returns hashes of a name and its element of a list; maybe only some names.
sub all {
    my ($class, @members) = @_;
    my @tools;
    for my $member (@members ? @members : sort keys %WRONG) {
        my $n = 0;
        for my $value (@{ $WRONG{$member} }) {
            my $name = lc($member =~ s/_//r) . '_' . ++$n;
            my $rest = $member eq 'inputSchema'
                ? '' : ',"inputSchema":{"type":"object"}';
            push @tools, Toolgate::Client->decode(
                qq({"name":"$name","$member":$value$rest}));
        }
    }
    push @tools, { name => 'none' };
    return @tools;
}

1;
