#!/usr/bin/perl
# Folders of a rule that are deeper than the runner has descriptors: it uses
# one, whatever the depth.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $conf = <<'END';
task_agent sh { exec true; default; }
task_methods on;
automation sources {
    trigger file %DIR%/src debounce=0;
    notify  "{{payload.path}}";
}
END
$conf =~ s/%DIR%/$dir/g;
mkdir "$dir/src" or die "$dir/src: $!";
$tg->conf($conf)->start;
my $c = $tg->connect;
$c->rpc('ping');
sub files {
    return $c->rpc('daemon.status')->{result}{subsystems}{file_watcher};
}
wait_for { files()->{ready} } 'files to be watched';

my ($status, $out, $err) = run_command({}, 'prlimit', '--pid',
    $tg->runner_pid, '--nofile=64:4096');
is $status, 0, 'there are few descriptors' or diag $err;

# All of them exist at once.
my $deep = 'd/' x 300;
system('mkdir', '-p', "$dir/away/$deep") == 0 or die;
my $file = "src/top/${deep}file";
rename "$dir/away", "$dir/src/top" or die "$dir/src/top: $!";
wait_for { files()->{folders} == 302 } 'all of them to be watched';
$tg->file($file, 'new');
is $c->recv_where(sub { ($_[0]{method} // '') eq 'automation.notify' },
    120, 'the rule')->{params}{message}, "$dir/$file",
    'the deepest is watched';
system('rm', '-r', "$dir/src/top") == 0 or die;

done_testing;
