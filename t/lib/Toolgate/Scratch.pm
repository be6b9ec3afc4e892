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

# A compiler that copies objects of the tested build.
my $compiler = <<'END';
#!/bin/sh
object=${*##* -o }
object=${object%% *}
case $object in
objs/addon/*)
    [ ! -e "$OBJECTS/$object" ] || exec cp "$OBJECTS/$object" "$object" ;;
esac
exec "$COMPILER" "$@"
END

# Writes it to dir, next to the objects that the copy of the sources has in
# common with the tested build. Returns its environment.
sub _compiler {
    my ($dir, $top) = @_;
    mkdir "$dir/objs" or croak "$dir/objs: $!";
    system('cp', '-r', "$BUILD/nginx/objs/addon", "$dir/objs") == 0
        or croak 'cp failed';
    for my $source (glob "$top/module/nginx/{,*/}*.c") {
        my ($object) = $source =~ m{([^/]+/[^/]+)\.c$};
        unlink "$dir/objs/addon/$object.o"
            if $object =~ /ngx_tg_handlers$/
            || Toolgate::Util::slurp($source) =~ /NGX_TG_MSGPACK/;
    }
    open my $fh, '>', "$dir/cc" or croak "$dir/cc: $!";
    print $fh $compiler;
    close $fh or croak "$dir/cc: $!";
    chmod 0755, "$dir/cc";
    my ($san, $ld) = @BUILD_ENV{qw(san san_ld)};
    return (
        CC       => "$dir/cc",
        COMPILER => $BUILD_ENV{cc},
        OBJECTS  => $dir,
        $san
        ? (CFLAGS => "-O1 $san -fno-sanitize-recover=all",
            LDFLAGS => "$san $ld")
        : (),
    );
}

# Builds it below dir. Options, in a hash before the names: edit (a function
# that changes the copy, whose path it gets; nothing built is reused) and, with
# it, CFLAGS. Returns the module's path.
sub build {
    my ($class, $dir, @names) = @_;
    my $option = ref $names[0] ? shift @names : {};
    my $top = "$dir/scratch";
    mkdir $top or croak "$top: $!";
    my @copy = (qw(cp -r), (map {"$TOP/$_"} qw(module config build.sh)), $top);
    system(@copy) == 0 or croak "@copy failed";
    _add($top, $_) for @names;
    $option->{edit}->($top) if $option->{edit};
    my @compiler =
        $option->{edit}
        ? (CC => $BUILD_ENV{cc}, CFLAGS => $option->{CFLAGS} // '')
        : _compiler($dir, $top);

    my ($status, $out) = run_command(
        { cwd => $top, timeout => 900,
            env => {
                @compiler,
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
