#!/usr/bin/perl
# Rules about files: created, changed, deleted and renamed files, folders that
# are added and removed, git, ten thousand files at once; and rules whose own
# task changes them.

use Toolgate::Test;

my $json = JSON::PP->new->canonical;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $root = "$dir/src";
system('mkdir', '-p', "$root/lib", "$dir/one", "$dir/loop", "$dir/later") == 0
    or die;
chmod 0777, "$dir/loop";
$tg->file('src/old.c', 'old');
$tg->file('src/lib/old.h', 'old');
$tg->file('src/old.o', 'old');
$tg->file('one/file.txt', 'old');
$tg->file('one/other.txt', 'old');
my $conf = <<'END';
task_agent sh { exec sh -c $task_prompt; default; concurrency 1; }
task_methods on;
automation sources {
    trigger file %ROOT% glob=*.c glob=*.h debounce=100ms;
    notify  "{{payload}}";
}
automation one {
    trigger file %DIR%/one/file.txt debounce=100ms;
    notify  "{{payload}}";
}
automation gone {
    trigger file %DIR%/later events=delete debounce=0;
    notify  "{{payload}}";
}
automation loop {
    trigger file %DIR%/loop debounce=0;
    agent   sh "date +%s%N > %DIR%/loop/self";
}
END
$conf =~ s/%ROOT%/$root/g;
$conf =~ s/%DIR%/$dir/g;
$tg->conf($conf)->start;

my ($c, $hears);
sub begin {
    $c = $tg->connect;
    $hears = $tg->connect;
    $hears->rpc('ping');
    wait_for { files()->{ready} } 'files to be watched';
}
sub files {
    return $c->rpc('daemon.status')->{result}{subsystems}{file_watcher};
}

# Returns the files of a rule's next message, without the folder.
sub next_of {
    my ($rule, $folder) = @_;
    my $told = $hears->recv_where(sub {
        return ($_[0]{method} // '') eq 'automation.notify'
            && $_[0]{params}{ruleId} eq $rule;
    }, 120, "rule $rule")->{params}{message};
    my $payload = $json->decode($told);
    return $payload if !defined $folder;
    return join ' ', map { $_->{path} =~ m{^\Q$folder\E/(.*)}s
            ? "$_->{event}:$1" : "?$_->{path}" } @{ $payload->{files} };
}

# Waits for all messages; a slow machine may see one step as two, and a change
# after a creation.
my %known;
sub hears {
    my ($want, $what, $rule, $folder) = @_;
    my %missing = map { $_ => 1 } split / /, $want;
    $known{ s/^\w+://r } = 1 for keys %missing;
    while (%missing) {
        for my $said (split / /, next_of($rule // 'sources',
            $folder // $root))
        {
            next if delete $missing{$said}
                || $said =~ /^change:(.*)/ && $known{$1};
            return fail "$what: $said";
        }
    }
    return pass $what;
}

# Creates a file with its content at once.
sub put {
    my ($name, $text) = @_;
    $tg->file('put', $text);
    rename "$dir/put", "$dir/$name" or die "$name: $!";
}
begin();
is files()->{missing}, 0, 'all are there';
cmp_ok files()->{folders}, '>=', 4, 'folders';
cmp_ok files()->{files}, '>=', 5, 'and files that are known';

# --- one file

put('src/new.c', 'x');
hears('create:new.c', 'a new file');
put('src/new.c', 'xy');
hears('change:new.c', 'a change');
put('src/new.o', 'xy');
put('src/lib/new.h', 'x');
hears('create:lib/new.h', 'below; and none of another name');
unlink "$root/new.c" or die;
hears('delete:new.c', 'it is deleted');
rename "$root/old.c", "$root/renamed.c" or die;
hears('create:renamed.c delete:old.c', 'renamed');

# As editors save: another file in its place.
$tg->file('src/renamed.c.tmp', 'better');
rename "$root/renamed.c.tmp", "$root/renamed.c" or die;
hears('change:renamed.c', 'another file in its place is a change');

# --- folders

system('mkdir', '-p', "$root/a/b/c") == 0 or die;
put('src/a/b/c/deep.c', 'x');
hears('create:a/b/c/deep.c', 'in new folders');
put('src/a/b/c/deep.c', 'y');
hears('change:a/b/c/deep.c', 'which are watched');
rename "$root/a", "$root/z" or die;
hears('create:z/b/c/deep.c delete:a/b/c/deep.c', 'a folder is renamed');
put('src/z/b/c/deep.c', 'z');
hears('change:z/b/c/deep.c', 'and watched on');
rename "$root/z", "$dir/away" or die;
hears('delete:z/b/c/deep.c', 'a folder goes away');
rename "$dir/away", "$root/back" or die;
hears('create:back/b/c/deep.c', 'and comes back');
system('rm', '-r', "$root/back") == 0 or die;
hears('delete:back/b/c/deep.c', 'and is removed');

# --- its own folder

rename $root, "$dir/moved" or die;
hears('delete:lib/new.h delete:lib/old.h delete:renamed.c',
    'its own folder is gone');
wait_for { files()->{missing} == 1 } 'that to be known';
put('moved/renamed.c', 'changed meanwhile');
rename "$dir/moved", $root or die;
hears('create:lib/new.h create:lib/old.h create:renamed.c',
    'and is found again');

# --- one file alone

put('one/other.txt', 'new');
put('one/file.txt', 'new');
hears('change:file.txt', 'a file alone', 'one', "$dir/one");
$tg->file('one/next', 'newer');
rename "$dir/one/next", "$dir/one/file.txt" or die;
hears('change:file.txt', 'also by another', 'one', "$dir/one");

# --- some events only

# A file that is removed before it was seen has no event.
my $known = files()->{files};
$tg->file('later/file', 'x');
wait_for { files()->{files} == $known + 1 } 'it to be known';
$tg->file('later/file', 'y');
unlink "$dir/later/file" or die;
is next_of('gone', "$dir/later"), 'delete:file', 'deleted ones alone';

# --- git

SKIP: {
    skip 'no git here', 2 if system('git --version >/dev/null 2>&1') != 0;
    my $git = sub {
        system('git', '-C', $root, '-c', 'user.name=a', '-c', 'user.email=a@b',
            '-c', 'init.defaultBranch=main', '-c', 'commit.gpgsign=false',
            '-c', 'gc.auto=0', @_) == 0 or die "git @_";
    };
    $git->(qw(init -q));
    $git->(qw(add -A));
    $git->(qw(commit -q -m first));
    $git->(qw(checkout -q -b other));
    put('src/renamed.c', 'of the branch');
    hears('change:renamed.c', 'git itself is not heard of');
    put('src/added.c', 'x');
    unlink "$root/lib/old.h" or die;
    hears('create:added.c delete:lib/old.h', 'changes');
    $git->(qw(add -A));
    $git->(qw(commit -q -m second));
    $git->(qw(checkout -q main));
    hears('change:renamed.c create:lib/old.h delete:added.c',
        'git checkout: what has become of the files');
}

# --- ten thousand

{
    my $many = "$root/many";
    mkdir $many or die;
    for my $n (0 .. 99) {
        mkdir "$many/$n" or die;
        for my $m (0 .. 99) {
            open my $fh, '>', "$many/$n/$m.c" or die;
            print $fh $m;
            close $fh;
        }
    }
    wait_for { files()->{files} >= 10_000 } 'all to be known';
    my ($count, $lost, %event) = (0, 0);
    until ($lost || $count >= 10_000) {
        my $payload = next_of('sources');
        $count += $payload->{count};
        $lost ||= $payload->{lost};
        cmp_ok scalar @{ $payload->{files} }, '<=', 100, 'it names some';
        $event{ $_->{event} } = 1 for @{ $payload->{files} };
    }
    ok $lost || $count >= 10_000, 'ten thousand files';
    ok $event{create}, 'which are new';
    system('rm', '-r', $many) == 0 or die;
    wait_for { files()->{files} < 1000 } 'all to be gone';
}

# --- changes by its own task

$tg->file('loop/start', '');
my $stopped;
wait_for {
    my $reply = $c->rpc('automation.status')->{result};
    ($stopped) = grep { $_->{ruleId} eq 'loop' && $_->{status} eq 'stopped' }
        @{ $reply->{recentExecutions} };
} 'it to be stopped';
like $stopped->{error}, qr/triggered itself too often/,
    'a rule whose task changes its files is stopped';
my $n = () = map { $_->{metadata}{ruleId} eq 'loop' ? 1 : () }
    @{ $c->rpc('task.list', { limit => 1000 })->{result} };
is $n, 10, 'by its bound';

# --- a reload

$hears->rpc('ping');
$tg->reload($conf . 'automation more { trigger file ' . "$dir/one"
    . ' debounce=100ms; notify "{{payload}}"; }');
wait_for { my $f = files(); $f->{ready} && $f->{rules} == 5 } 'the new rules';
put('one/other.txt', 'again');
hears('change:other.txt', 'a new rule', 'more', "$dir/one");

done_testing;
