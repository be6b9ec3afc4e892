#!/usr/bin/perl
# Mistakes in allow and deny: nginx -t finds each, with line and correction.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $user = getpwuid $>;

my @wrong = ('root', 'uid', 'uid=', 'gid=', 'uid=tg-nobody', 'gid=tg-nogroup',
    'uid=-1', 'uid=4294967296', 'uid=1.5', 'user', 'user=', 'scope=',
    '"scope=a  b"', '"scope= a"', '"scope=a "', 'UID=root',
    'everybody', '127.0.0.1', '"all "');

my $advice = 'write "all", "uid=USER" or "gid=GROUP", with a number';

for my $directive (qw(allow deny tool_allow tool_deny)) {
    for my $rule (@wrong) {
        my $body = $directive =~ /^tool/
            ? "$directive uid=$user $rule; #!\ntool a { return hi; }"
            : "tool a {\n $directive uid=$user $rule; #!\n return hi;\n}";
        my $shown = $rule =~ tr/"//dr;
        conf_fails_at($tg, $body,
            qr/invalid rule "\Q$shown\E" in "$directive"; $advice.*scope=S/,
            "$directive $rule");
    }
}

for my $case (
    [ 'tool a { allow; return hi; }', qr/number of arguments in "allow"/ ],
    [ 'tool_deny; tool a { return hi; }', qr/arguments in "tool_deny"/ ],
    [ 'tool a { tool_allow all; return hi; }', qr/"tool_allow" .*not allowed/ ],
    [ 'deny uid=root; tool a { return hi; }',
        qr/invalid parameter "uid=root"/ ],
    )
{
    conf_fails($tg, @$case);
}

# Names and numbers of all kinds are valid.
my ($status, $out) = $tg->test_conf(<<"END");
tool_allow uid=0 gid=0 uid=$user uid=4294967294;
tool_deny all;
tool a { allow uid=nobody; deny gid=daemon all; return hi; }
END
is $status, 0, 'what is right loads' or diag $out;

done_testing;
