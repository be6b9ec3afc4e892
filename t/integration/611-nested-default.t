#!/usr/bin/perl
# Variables of arguments: members of objects, defaults of the schema, presence;
# and `$$`, which is a dollar in every value.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;

sub config {
    return <<'CONF';
tool nested {
    input_schema '{"type":"object","properties":{
        "filter":{"$ref":"#/$defs/filter"},
        "filter.name":{"type":"string"},
        "Home-Town":{"type":"string"},
        "free":{"type":"object"}},
      "$defs":{"filter":{"type":"object","properties":{
        "Name":{"type":"string"},
        "a_b":{"type":"integer"},
        "deep":{"type":"object","properties":{"er":{"type":"boolean"}}},
        "list":{"type":"array"}}}}}';
    exec printf %s|
         ${tool_arg_filter.Name} ${tool_json_filter.name}
         $tool_arg_filter_name ${tool_arg_filter.a_b}
         ${tool_arg_filter.deep.er} ${tool_has_filter.deep.er}
         ${tool_arg_Home-Town} ${tool_arg_free.any.thing};
}
tool each {
    input_schema '{"type":"object","properties":{"filter":{"type":"object",
        "properties":{"list":{"type":"array","default":["x","y"]},
                      "on":{"type":"boolean","default":true}}}}}';
    exec printf %s,;
    arg  ${tool_arg_filter.list} each if=${tool_arg_filter.on};
}
tool bare { return "${tool_arg_a.b}|${tool_has_a}|${tool_arg_a-b}"; }
tool defaults {
    input_schema '{"type":"object","properties":{
        "n":{"type":"integer","default":7},
        "text":{"default":"a\\"b\\u00e9"},
        "of":{"$ref":"#/$defs/of"},
        "object":{"type":"object","default":{"in":1},"properties":{
            "in":{"default":2},"not":{"default":3}}},
        "none":{"type":"string"}},
      "$defs":{"of":{"type":"string","default":"there"}}}';
    exec printf %s|
         $tool_arg_n $tool_arg_text $tool_json_text $tool_arg_of $tool_arg_none
         $tool_has_n ${tool_arg_object.in} ${tool_arg_object.not}
         $tool_arguments;
}
tool alone {
    input_schema '{"type":"object","properties":{
        "x":{"type":"string","default":"as the schema says"}}}';
    return $tool_arg_x;
}
tool has { return "<$tool_has_x>"; }
tool dollars { return 'US$$5, $$tool_arg_x is $tool_arg_x, $$$$'; }
tool dollar { return 'a $$'; }
tool run {
    exec  sh -c 'echo "$$1-$$HOME-$$OF-$$(cat)"' sh $tool_arg_x;
    env   HOME '$$home';
    env   OF '$$of$tool_arg_x';
    stdin 'in $$';
}
tool there { exec pwd; cwd '%%DIR%%/d$$'; }
CONF
}

mkdir "$dir/d\$" or die "mkdir: $!\n";
my $body = config();
$body =~ s/%%DIR%%/$dir/;
$tg->conf($body)->start;
my $client = $tg->connect;

sub says {
    my ($tool, $arguments, $expected, $name) = @_;
    is text_of($client->call_tool($tool => $arguments)), $expected, $name;
}

# nested
says(nested => {
        filter => { Name => 'n', a_b => 3, deep => { er => JSON::PP::false } },
        'filter.name' => 'top', 'Home-Town' => 'x y',
        free => { any => { thing => [1] } },
    },
    'n|"n"|top|3|false|1|x y|[1]|', 'members, and properties with dots');
says(nested => {}, '|null|||||||', 'none of them');
says(nested => { filter => { Name => "a\"\\\n" } },
    "a\"\\\n|" . '"a\\"\\\\\\n"' . '|||||||', 'with escapes');
says(each => { filter => {} }, 'x,y,', 'each of a default in an object');
says(each => { filter => { list => [1] } }, '1,', 'of what was given');
says(each => { filter => { on => JSON::PP::false } }, ',',
    'with a condition in it');
says(each => {}, ',', 'not of an object that is not there');
says(bare => { a => { b => 'c' }, 'a-b' => 'd' }, 'c|1|d', 'without a schema');
says(bare => { a => 'no object' }, '|1|', 'of what is no object');

# default
says(defaults => {}, qq{7|a"b\x{e9}|"a\\"b\\u00e9"|there|||1|3|{}|},
    'defaults of what was not given; what was sent stays');
says(defaults => { n => 1, text => 't', of => 'o', object => {} },
    '1|t|"t"|o||1|2|3|{"n":1,"object":{},"of":"o","text":"t"}|',
    'what was given, and defaults in an object that is there');
says(defaults => { n => 1, none => 'x', object => { in => 9 } },
    qq{1|a"b\x{e9}|"a\\"b\\u00e9"|there|x|1|9|3|}
        . '{"n":1,"none":"x","object":{"in":9}}|', 'one by one');
says(alone => {}, 'as the schema says', 'a default alone');
says(alone => { x => '' }, '', 'an empty text is given');

# has
says(has => {}, '<>', 'not there');
says(has => { x => $_ }, '<1>', 'there') for '', 0, undef, 'x';

# dollars
says(dollars => { x => '$y' }, 'US$5, $tool_arg_x is $y, $$', 'dollars');
says(dollar => {}, 'a $', 'a dollar at the end');
says(run => { x => 'z' }, "z-\$home-\$ofz-in \$\n", 'dollars for a program');
says(there => {}, "$dir/d\$\n", 'and in the name of a folder');

done_testing;
