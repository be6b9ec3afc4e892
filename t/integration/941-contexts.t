#!/usr/bin/perl
# The contexts of docs/directives.md: a directive is accepted in each kind of
# block that its row names, and in no other.

use Toolgate::Test plain_only => 'it runs nginx -t more than a hundred times';

my $tg = Toolgate::Test->new;
my @kinds = qw(tool method prompt resource resource_template);
my %head = (
    tool              => 'tool a',
    method            => 'method a.b',
    prompt            => 'prompt a',
    resource          => 'resource a:b',
    resource_template => 'resource_template "a:{x}"',
);
my $schema = $tg->file('schema.json', '{"type":"object"}');
my $text = $tg->file('text', 'a');

# A line of each directive of blocks, with the handler that it needs.
my $return = 'return 1;';
my $exec = 'exec true;';
my $http = 'http POST http://127.0.0.1:1/;';
my $pass = 'pass unix:%%DIR%%/backend.sock;';
my %line = (
    allow            => [ 'allow uid=0;',                     $return ],
    annotations      => [ q(annotations '{"title":"a"}';),    $return ],
    arg              => [ 'arg a;',                           $exec ],
    audience         => [ 'audience user;',                   $return ],
    body             => [ q(body json '{}';),                $http ],
    concurrency      => [ 'concurrency 1;',                   $exec ],
    connect_timeout  => [ 'connect_timeout 1s;',              $http ],
    clients          => ['clients;'],
    broadcast        => ['broadcast notifications/a;'],
    preview          => [ 'preview 10k;',                     $exec ],
    field            => [ 'field a b;',                       $http ],
    hosts            => [ 'hosts 127.0.0.1; redirects 1;',    $http ],
    output_schema    => [ q(output_schema '{"type":"object"}'; output json;),
        $exec ],
    cwd              => [ 'cwd /;',                           $exec ],
    deny             => [ 'deny uid=0;',                      $return ],
    description      => [ 'description a;',                   $return ],
    env              => [ 'env A b;',                         $exec ],
    exec             => [$exec],
    file             => ["file $text;"],
    header           => [ 'header A b;',                      $http ],
    http             => [$http],
    icon             => [ 'icon https://a.b/c.png;',          $return ],
    input_schema     => [ q(input_schema '{"type":"object"}';), $return ],
    input_schema_file => [ "input_schema_file $schema;",      $return ],
    max_output       => [ 'max_output 1k;',                   $exec ],
    memory           => [ 'memory 64m;',                      $exec ],
    message          => ['message user a;'],
    meta             => [ 'meta a 1;',                        $return ],
    mime             => [ 'mime text/plain;',                 $return ],
    name             => [ 'name a;',                          $return ],
    output           => [ 'output result;',                   $exec ],
    nice             => [ 'nice 1;',                          $exec ],
    pass             => [$pass],
    pids             => [ 'pids 9;',                          $exec ],
    priority         => [ 'priority 1;',                      $return ],
    proxy            => [ 'proxy http://127.0.0.1:1;',        $http ],
    query            => [ 'query a b;',                       $http ],
    rate             => [ 'rate 1r/s;',                       $return ],
    redirects        => [ 'redirects 1;',                     $http ],
    return           => [$return],
    root             => [ "root ${\ $tg->dir};", "file $text;" ],
    stderr           => [ 'stderr drop;',                     $exec ],
    stdin            => [ 'stdin a;',                         $exec ],
    success          => [ 'success 0 1;',                     $exec ],
    timeout          => [ 'timeout 1s;',                      $exec ],
    title            => [ 'title a;',                         $return ],
    tool_log         => [ 'tool_log off;',                    $return ],
    tool_pass_ssl    => [ 'tool_pass_ssl off;',               $pass ],
    ttl              => [ 'ttl 1s;',                          $return ],
    validate         => [ 'validate off;',                    $return ],
    watch            => [ 'watch off;',                       $return ],
);

my ($table) = slurp(Toolgate::Test::top() . '/docs/directives.md')
    =~ /^## All directives\n(.*)/ms;
my %rows;
for (split /\n/, $table) {
    my ($name, $context) = /^\| .*?\[(\w+)\]\(.*?\).* \| (.*) \|$/ or next;
    $rows{$name}{$_} = 1 for $context =~ /(\w+)/g;
}
for my $name (sort keys %line) {
    my $lines = join ' ', grep { defined } @{ $line{$name} };
    my @accepted = grep { !($tg->test_conf("$head{$_} { $lines }"))[0] } @kinds;
    is "@accepted", join(' ', grep { $rows{$name}{$_} } @kinds), $name;
}

done_testing;
