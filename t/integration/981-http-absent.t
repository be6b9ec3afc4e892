#!/usr/bin/perl
# An NGINX without `http` is built with the same sources, but without the HTTP
# module, which is the only part that needs `http`.

use Toolgate::Test;

my $objects = Toolgate::Test::build_dir() . '/nginx/objs/addon';
my @all = glob "$objects/*/*.o";
cmp_ok scalar @all, '>', 100, 'objects of the module';
my @http = grep {m{/http/ngx_http_}} @all;
cmp_ok scalar @http, '>', 1, 'and of its HTTP module';

# Returns the names that objects need from NGINX's http.
sub needs {
    my ($status, $out, $err) = run_command({}, 'nm', '-u', @_);
    is $status, 0, 'nm' or diag $err;
    my %name = map { $_ => 1 } $out =~ /\bU (ngx_http_\w+)/g;
    return sort keys %name;
}
my %is_http = map { $_ => 1 } @http;
is join(' ', needs(grep { !$is_http{$_} } @all)), '',
    'no other object needs http';
isnt join(' ', needs(@http)), '', 'as the HTTP module does';

# NGINX's configure, in a folder of links to its sources.
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $source = (glob "$objects/../../configure")[0] =~ s{/[^/]*$}{}r;

sub configure {
    my ($name, @options) = @_;
    my $dir = $tg->dir . "/$name";
    mkdir $dir or die "$dir: $!\n";
    for my $path (glob "$source/*") {
        my ($file) = $path =~ m{([^/]*)$};
        next if $file =~ /^(?:objs|Makefile|deps\.mk|configure\.log)$/
            || $file =~ /\.stamp$/;
        symlink readlink $path, "$dir/$file" or die "$dir/$file: $!\n";
    }
    my ($status, $out, $err) = run_command(
        { cwd => $dir, timeout => 300 }, './configure', '--with-stream',
        '--with-compat', @options, "--add-dynamic-module=$top");
    is $status, 0, "configure @options" or diag $out . $err;
    return (slurp("$dir/objs/ngx_stream_toolgate_module_modules.c"),
        slurp("$dir/objs/Makefile"));
}
my ($modules, $makefile) = configure('without', '--without-http');
like $modules, qr/ngx_stream_toolgate_module/, 'the stream module';
unlike $modules, qr/ngx_http_/, 'no HTTP module';
unlike $makefile, qr{nginx/http/\w+\.c}, 'which is not compiled';

done_testing;
