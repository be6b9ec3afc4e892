package Toolgate::Scratch;

# Builds a module with further handlers: t/handlers/ngx_tg_NAME.c in a copy of
# the sources, with the changes that docs/architecture.md lists (the table of
# handlers, and `config`), without msgpack-c.

use strict;
use warnings;

use Carp qw(croak);

use Toolgate::Util;

# Changes a file of the copy, in $_; dies if nothing changes.
sub edit {
    my ($path, $edit) = @_;
    local $_ = Toolgate::Util::slurp($path) // croak "$path: $!";
    my $old = $_;
    $edit->();
    croak "$path: nothing to change" if $_ eq $old;
    open my $fh, '>', $path or croak "$path: $!";
    print $fh $_;
    close $fh or croak "$path: $!";
}

sub _add {
    my ($top, $name) = @_;
    my $handlers = "$top/module/nginx/handlers";
    system('cp', "$TOP/t/handlers/ngx_tg_$name.c", $handlers) == 0
        or croak 'cp failed';
    my $row = "ngx_tg_${name}_handler";
    edit("$handlers/ngx_tg_handlers.c", sub {
        s/^(?=extern)/extern const ngx_tg_handler_t $row;\n/m;
        s/^(?= *NULL,)/    &$row,\n/m;
    });
    edit("$top/config", sub {
        s/^(ngx_module_name=".*?)"/$1 ngx_tg_${name}_module"/ms;
    });
}

# Builds it below dir. Returns the module's path. A hash after the handlers has
# CFLAGS, and edit, a function that changes the copy.
sub build {
    my ($class, $dir, @names) = @_;
    my $option = ref $names[-1] ? pop @names : {};
    my $top = "$dir/scratch";
    mkdir $top or croak "$top: $!";
    my @copy = (qw(cp -r), (map {"$TOP/$_"} qw(module config build.sh)), $top);
    system(@copy) == 0 or croak "@copy failed";
    _add($top, $_) for @names;
    $option->{edit}->($top) if $option->{edit};

    # Its speed is not tested.
    my ($status, $out) = run_command(
        { cwd => $top, timeout => 900,
            env => {
                CFLAGS           => $option->{CFLAGS} // '-O1',
                TOOLGATE_BUILD   => 'build',
                TOOLGATE_MSGPACK => 'no',
            },
        },
        'sh', '-c', './build.sh build module 2>&1');
    croak "the build failed:\n$out" if $status != 0;
    return "$top/build/ngx_stream_toolgate_module.so";
}

# Makes all NGINX of this test use it from now on.
sub use_module {
    my ($class, $dir, @names) = @_;
    $BUILD_ENV{module} = $class->build($dir, @names);
}

1;
