#!/usr/bin/perl
# The error of a failed call has its tool and output: the ends of both outputs,
# marked, within max_output; and no advice that is only for the operator.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->file('lint', <<'END', 0755);
#!/bin/sh
echo "a.c:3: unused variable"
echo "a.c:9: no newline"
echo "lint: 2 problems" >&2
exit 1
END
$tg->file('compile', <<'END', 0755);
#!/bin/sh
for i in $(seq 1 20000); do echo "line $i"; done
for i in $(seq 1 2000); do echo "note $i" >&2; done
exit 2
END
$tg->file('dies', "#!/bin/sh\necho half\nkill -9 \$\$\n", 0755);
mkdir "$dir/nothing" or die $!;
$tg->file('lost', "#!$dir/nothing/sh\n", 0755);
$tg->conf(<<"END")->start;
tool lint    { exec $dir/lint; }
tool quiet   { exec sh -c "echo found; exit 1"; }
tool compile { exec $dir/compile; }
tool bounded { exec $dir/compile; max_output 300k; }
tool little  { exec $dir/lint; max_output 60; }
tool dies    { exec $dir/dies; }
tool bytes   { exec sh -c "printf 'ok\\\\377'; exit 1"; }
tool json    { exec echo surely not; output json; }
tool whole   { exec echo [1]; output result; }
tool much    { exec head -c 2000 /dev/zero; max_output 1k; }
tool late    { exec sleep 3600; timeout 200ms; }
tool lost    { exec $dir/lost; }
tool where   { exec true; cwd $dir/\$tool_arg_dir; }
tool said    { return \$tool_arg_text; output json; }
tool schema  { exec echo "{}"; output json; output_schema
    '{"type":"object","required":["n"]}'; }
END

my ($legacy, $modern, $relay, $ipc) = Toolgate::Way->all($tg);
for my $way ($legacy, $modern, $relay, $ipc) {
    my $answer = $way->call('lint');
    ok $answer->{is_error} || $way->name eq 'ipc', 'it failed, ' . $way->name;
    is $answer->{text}, "lint exited with status 1\n[stderr]\nlint: 2 problems"
        . "\n[stdout]\na.c:3: unused variable\na.c:9: no newline",
        'both outputs, marked, ' . $way->name;
}

sub said { return $legacy->call(@_)->{text} }
is said('quiet'),
    "quiet exited with status 1 and wrote nothing to stderr\n[stdout]\nfound",
    'one of them';
is said('dies'), "dies was killed by signal 9 (SIGKILL) and wrote nothing to "
    . "stderr\n[stdout]\nhalf", 'one that was ended';
is said('bytes'),
    "bytes exited with status 1 and wrote nothing to stderr\n[stdout]\nok"
    . chr 0xfffd, 'invalid UTF-8 is replaced';

# Their ends, within the limit.
my $text = said('bounded');
like $text, qr/^bounded exited with status 2\n\[end of stderr\]\n/,
    'a part is called one';
like $text, qr/note 2000\n\[end of stdout\]\n.*line 20000\z/s, 'both are ends';
like $text, qr/of stderr\]\nnote \d+\nnote .*of stdout\]\nline \d+\nline/s,
    'in whole lines';
cmp_ok length $text, '<=', 65536 + 100, 'of bounded length';
cmp_ok length $text, '>', 60000, 'and no less';
like said('compile'), qr/\[end of stderr\]/, 'as without max_output';
$text = said('little');
like $text, qr/stderr\]\nlint: 2 problems\n\[stdout\]\n|end of stdout\]\n/,
    'a small max_output';
$text =~ s/\[.*\]\n//g;
cmp_ok length $text, '<=', 60 + length "little exited with status 1\n\n\n",
    'holds for both together';

# Each names the tool, and shows wrong output.
for (
    [ json  => qr/^json: .*not one valid JSON value\. It is: surely not\n$/ ],
    [ whole => qr/^whole: .*not a tool result.* It is: \[1\]\n$/s ],
    [ much  => qr/^much printed more than 1024 bytes \(max_output\)/ ],
    [ late  => qr/^late did not finish within 200 ms.*ask for less\.$/ ],
    [ lost  => qr/^lost could not be started: .*interpreter/ ],
    [ where => qr/^where could not be started: .*No such file/ ],
    [ said  => qr/^said: .*valid JSON value\. It is: nonsense$/ ],
    [ schema => qr/^The result of schema does not match its output schema/ ],
    )
{
    my ($tool, $pattern) = @$_;
    $text = said($tool, { dir => 'no', text => 'nonsense' });
    like $text, $pattern, "$tool: says what is wrong";
    unlike $text, qr/\braise|let the (?:tool|program)|NGINX's workers|
        \bset "|make the directory|error log/x,
        "$tool: nothing that the agent cannot do";
}

done_testing;
