#!/usr/bin/perl
# `output image`, `output audio` and `output file`: a program's bytes become
# MCP's block for them.

use Toolgate::Test qw(Way);

use MIME::Base64 qw(decode_base64);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $bytes = join '', map { chr($_ % 256) } 0 .. 299_999;
$tg->file('bytes', $bytes);
$tg->file('slow', <<'END', 0755);
#!/bin/sh
for i in 1 2 3 4 5; do
    printf a
    sleep 0.01
done
END
$tg->conf(<<"END")->start;
tool image { exec cat $dir/bytes; output image image/png; }
tool audio { exec head -c 4 $dir/bytes; output audio audio/wav; }
tool file  { exec head -c 5 $dir/bytes; output file application/pdf; }
tool slow  { exec $dir/slow; output file text/plain; }
tool large { exec head -c 101 $dir/bytes; output file a/b; max_output 100; }
tool none  { exec true; output image image/png; }
tool fails { exec sh -c "cat $dir/bytes; echo why >&2; exit 3";
             output image image/png; }
tool found { exec sh -c "printf x; exit 1"; output file a/b; success 1; }
tool text  { exec cat $dir/bytes; }
END

for my $way (Toolgate::Way->all($tg)) {
    my $name = $way->name;
    my $text = $way->call('text')->{text};
    like $text, qr/^The output of text is not UTF-8 text/,
        "bytes are no text, $name";
    like $text, qr/"output $_ TYPE"/, "what is needed for $_, $name"
        for qw(image audio file);
    like $way->call('none')->{text},
        qr/^none printed nothing, but image \(image\/png\)/,
        "nothing is no image, $name";
    is $way->call('fails')->{text}, 'fails exited with status 3: why',
        "a failure does not report the bytes, $name";
    like $way->call('large')->{text}, qr/^large printed more than 100 bytes/,
        "max_output is about the bytes, $name";
    next if $name eq 'ipc';

    my $result = $way->call('image')->{result};
    my ($block) = @{ $result->{content} };
    is scalar @{ $result->{content} }, 1, "one block, $name";
    is $block->{type}, 'image', "an image, $name";
    is $block->{mimeType}, 'image/png', "its type, $name";
    ok decode_base64($block->{data}) eq $bytes, "its bytes, $name";
    ok !$result->{isError}, "no error, $name";

    ($block) = @{ $way->call('audio')->{result}{content} };
    is_deeply $block,
        { type => 'audio', mimeType => 'audio/wav', data => 'AAECAw==' },
        "audio, $name";
    ($block) = @{ $way->call('file')->{result}{content} };
    is $block->{type}, 'resource', "a file, $name";
    is $block->{resource}{mimeType}, 'application/pdf', "its type, $name";
    is $block->{resource}{blob}, 'AAECAwQ=', "its bytes, $name";
    ok length $block->{resource}{uri}, "named as MCP wants it, $name";
    ($block) = @{ $way->call('slow')->{result}{content} };
    is decode_base64($block->{resource}{blob}), 'aaaaa', "in pieces, $name";
    $result = $way->call('found')->{result};
    is $result->{_meta}{'toolgate/exitStatus'}, 1, "and a status, $name";
    is $result->{content}[0]{resource}{blob}, 'eA==', "beside them, $name";
}

done_testing;
