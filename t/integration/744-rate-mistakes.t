#!/usr/bin/perl
# Mistakes in rate and tool_rate: nginx -t finds each, with line and correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my @wrong = ('0r/s', '-1r/s', '1.5r/s', '10', 'r/s', '10r/h', '10/s', '10 r/s',
    '65537r/s', '99999999999999999999r/s', '10R/S', '10r/s burst',
    '10r/s burst=', '10r/s burst=-1', '10r/s burst=65537', '10r/s 5',
    '10r/s nodelay', 'burst=5 10r/s', '10r/s burst=1 burst=1',
    '10r/s dry_run dry_run', '10r/s dry_run=on', '10r/s log_level',
    '10r/s log_level=debug', '10r/s log_level=warn log_level=warn');

for my $directive (qw(rate tool_rate)) {
    for my $value (@wrong) {
        my $body = $directive =~ /^tool/
            ? "$directive $value; #!\ntool a { return hi; }"
            : "tool a {\n $directive $value; #!\n return hi;\n}";
        conf_fails_at($tg, $body, [
            qr/invalid "$directive"; write a rate per second or minute,/,
            qr{"$directive 10r/s burst=5" or "$directive 30r/m"},
            qr{"dry_run" and "log_level=" with info, notice, warn or},
        ]);
    }
    my $twice = "$directive 1r/s;\n$directive 2r/s; #!\n";
    conf_fails_at(
        $tg,
        $directive =~ /^tool/
        ? "$twice tool a { return hi; }"
        : "tool a { $twice return hi; }",
        qr/"$directive" directive is duplicate/);
}

my ($status, $out) = $tg->test_conf(<<'END', stream => 'tool_rate 1r/m;');
tool_rate 65536r/s burst=65536;
tool a { rate 1r/m burst=0; return hi; }
tool b { rate 1r/m log_level=notice dry_run burst=0; return hi; }
method a { rate 1000r/m burst=1; return 1; }
END
is $status, 0, 'what is right loads' or diag $out;

done_testing;
