#!/usr/bin/perl
# Tools, prompts and resources with lines that are garbled word by word: nginx
# -t accepts them, or reports the line; it neither crashes nor hangs.
#
# TOOLGATE_GARBLED_TOOLS is their number (200), TOOLGATE_STORM_SEED repeats
# them.

use Toolgate::Test timeout => 1800;

my $tg = Toolgate::Test->new(workers => 1);
my $seed = $ENV{TOOLGATE_STORM_SEED} // 14;
my $most = $ENV{TOOLGATE_GARBLED_TOOLS} // 200;
srand $seed;
diag "TOOLGATE_STORM_SEED=$seed" if $most != 200;

# Directives for a program, its arguments and its result.
my @line = (
    [qw(exec printf %s $tool_arg_text)],
    [qw(arg -i if=$tool_arg_flag)],
    [qw(arg -C $tool_arg_n if=!$tool_arg_n)],
    [qw(arg -g $tool_arg_list each)],
    [qw(arg --x=${tool_arg_deep.a.b} if=$tool_has_text)],
    [qw(arg $tool_json_list $tool_client_uid if=$tool_arg_flag each)],
    [qw(success 0 1)],
    [qw(stderr append)],
    [qw(output text)],
    [qw(max_output 4k spill)],
    [qw(preview 1k)],
    [qw(stdin ${tool_json_deep.a})],
    [qw(env NAME $tool_arg_text)],
    [qw(timeout 5s max=1h)],
    [qw(cwd /)],
);
my @word = ('each', 'if=', 'if=!', 'if=!!$tool_arg_flag', 'if=x', '$', '$$',
    '${', '${}', '${tool_arg_}', '${tool_arg_deep.}', '${tool_arg_.a}',
    '${tool_arg_deep..b}', '${tool_arg_list.0}', '$tool_arg_', '$tool_has_',
    '$tool_arg_none', '$tool_arg_deep', '$tool_arg_list', '$nobody',
    'spill', 'off', '0', '1', '-1', '255', '256', '18446744073709551616',
    '1k', '33m', 'image', 'audio', 'file', 'image/png', '/', 'image/', 'json',
    'result', '""', "'a b'", '|', '>', '&&', "\xff", "\x01", 'x' x 5000,
    'file=/nowhere', 'credential=x', '$tool_arg_list$tool_arg_text');

# Prompts and resources: what begins the block, and its directives.
my @listed = (
    [qw(description d)],
    [qw(title T)],
    [qw(meta a/b 1)],
    [qw(icon https://a.b/c.png image/png 48x48 any dark)],
    [qw(rate 2r/s burst=3)],
);
my @block = (
    [
        [qw(prompt p)],
        [qw(argument commit required pattern=^[a-z]+ text)],
        [qw(argument n default=5)],
        [qw(message user $tool_arg_commit)],
        [qw(message assistant $tool_arg_n)], @listed
    ],
    [
        [qw(resource a:b/c)],
        [qw(name n)], [qw(mime text/plain)], [qw(audience user assistant)],
        [qw(priority 0.5)], [qw(ttl 1h public)], [qw(return $tool_uri)],
        @listed
    ],
    [
        [qw(resource_template "a:{x}/{+y}{?z,v}")],
        [qw(argument x pattern=^a text)],
        [qw(argument z required)], [qw(mime image/png)], [qw(ttl 0)],
        [qw(exec printf %s $tool_arg_x)], @listed
    ],
);
push @word, 'a:b', 'a:{x}', '"a:{x}"', '"a:{+x}{y}"', '"{x}"', '"a:{x"',
    '"a:{?x}{?y}"', 'user', 'assistant', 'required', 'default=', 'pattern=',
    'pattern=(', 'public', '1y', '1.5', '"{}"', "'[1,'", 'https:', 'data:',
    'x/y', '9x9', '$tool_arg_x', '$tool_arg_zz', 'notes:///%', 'x:%41';

sub any { return $_[ int rand @_ ] }

sub garble {
    my (@words) = @_;
    for (0 .. rand 2) {
        my $at = int rand @words;
        my $how = int rand 5;
        if ($how == 0) {
            splice @words, $at, 1 if @words > 1;
        } elsif ($how == 1) {
            splice @words, $at, 0, any(@word);
        } elsif ($how == 2) {
            $words[$at] = any(@word);
        } elsif ($how == 3) {
            push @words, $words[$at];
        } else {
            # A part of it, and something else: no quote is left open.
            my $cut = int rand length $words[$at];
            $words[$at] = substr($words[$at], 0, $cut) =~ tr/'"{}\\//dr
                . any(qw($ . = ! x 0 -));
        }
    }
    return @words;
}

my $schema = q('{"type":"object","properties":{
    "text":{"type":"string","default":"x"},"flag":{"type":"boolean"},
    "n":{"type":"integer","default":3},
    "list":{"type":"array","items":{"type":"string"}},
    "deep":{"type":"object","properties":{"a":{"type":"object",
        "properties":{"b":{"type":"string","default":"d"}}}}}}}');

# Returns a block of a kind, with garbled lines.
sub block {
    my ($head, @rest) = @{ any(@block) };
    my @begin = rand() < 0.1 ? garble(@$head) : @$head;
    return "@begin {\n" . join("\n", map {
        my @words = rand() < 0.15 ? garble(@$_) : @$_;
        rand() < 0.5 || $_->[0] =~ /^(?:message|return|exec|argument)$/
            ? "@words;" : ();
    } @rest) . "\n}";
}

my %count = (taken => 0, refused => 0);
my (%message, @wrong);
for my $n (1 .. $most) {
    my $lines = join "\n", map {
        my @words = rand() < 0.2 ? garble(@$_) : @$_;
        rand() < 0.5 || $_->[0] eq 'exec' ? "@words;" : ();
    } @line;
    my $tool = $n % 2 ? block() : "tool a {\ninput_schema $schema;\n$lines\n}";
    my ($status, $out) = $tg->test_conf($tool);
    if ($status == 0) {
        $count{taken}++;
    } elsif ($status == 1 && $out =~ /\[emerg\] (.*) in \S+:\d+$/m) {
        $count{refused}++;
        $message{ $1 =~ s/"[^"]*"//gr }++;
    } else {
        push @wrong, "status $status, $out of\n$tool\n";
    }
}
is join("\n", @wrong), '', 'each is taken, or has its line';
cmp_ok $count{taken}, '>', $most / 20, 'some are right';
cmp_ok $count{refused}, '>', $most / 5, 'some are wrong';
cmp_ok scalar keys %message, '>', 10, 'in many ways';

done_testing;
