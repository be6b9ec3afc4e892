#!/usr/bin/perl
# Every built file is hardened, as far as the files show it.

use Toolgate::Test plain_only => 'hardening is of usual builds';

my $build = Toolgate::Test::build_dir();
my $top = Toolgate::Test::top();
my $cc = $ENV{CC} // 'gcc';

sub readelf {
    my ($what, $file) = @_;
    my ($status, $out, $err) =
        run_command({ env => { LC_ALL => 'C' } }, 'readelf', '-W', $what,
            $file);
    die "readelf $what $file: $err" if $status;
    return $out;
}

# What this compiler supports of hardening.sh's list.
my ($status, $flags) = run_command({}, 'sh',
    "$top/module/build/hardening.sh", $cc, 'cc');
is $status, 0, 'hardening.sh';
like $flags, qr/-fstack-protector-strong.*-D_FORTIFY_SOURCE=\d/,
    'which knows flags for this compiler';
my @seen = grep {/^-[fm]/} split ' ', $flags;

for my $name (qw(toolgate toolgate-bridge toolgate-runner
    ngx_stream_toolgate_module.so))
{
    my $file = "$build/$name";
    my $headers = readelf('-hl', $file);
    my $dynamic = readelf('-d', $file);
    my $symbols = readelf('--dyn-syms', $file);

    like $headers, qr/^\s+Type:\s+DYN /m, "$name: may be loaded anywhere";
    like $dynamic, qr/FLAGS_1.*\bPIE\b/, "$name: is no exception"
        if $name !~ /\.so$/;
    like $headers, qr/^\s+GNU_RELRO\s/m, "$name: its tables become read-only";
    like $dynamic, qr/BIND_NOW|FLAGS_1.*\bNOW\b/, "$name: before it runs";
    like $headers, qr/^\s+GNU_STACK\s.* RW /m, "$name: no code on its stack";
    unlike $headers, qr/^\s+LOAD\s.* RWE /m,
        "$name: nothing is writable and code";
    unlike $dynamic, qr/TEXTREL/, "$name: its code is not changed";
    unlike $dynamic, qr/R(?:UN)?PATH/, "$name: finds no other libraries";
    like $symbols, qr/__stack_chk_fail/, "$name: its stack is guarded";
    like $symbols, qr/__\w+_chk\b(?<!__stack_chk)/,
        "$name: its copies are checked";

    # The compiler's options in the debug information, for each of our files;
    # absent if CFLAGS turned that off.
    my %unit = reverse readelf('--debug-dump=info', $file)
        =~ /DW_AT_producer\s*: (.*)\n(?:.*\n)*?.*DW_AT_name\s*: .*?(\S+)\n/g;
    my @ours = grep {m{(?:^|/)module/\w+/\w+\.c$}} keys %unit;
    next if !grep { $unit{$_} =~ / -O/ } @ours;
    cmp_ok scalar(@ours), '>', 10, "$name: the compiler says how it was made";
    for my $flag (@seen) {
        is join(' ', grep { index($unit{$_}, $flag) < 0 } @ours), '',
            "$name: $flag for each file";
    }
}

done_testing;
