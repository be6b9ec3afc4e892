#!/usr/bin/perl
# The Inspector's command line: what it makes of each list and result.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
$tg->conf(<<'END')->start;
tool say { description "Says it."; return "this is said"; }
prompt review {
    description "Reviews a commit.";
    argument    commit required;
    message     user "Please review $tool_arg_commit.";
}
resource note:///todo { mime text/plain; return "Buy milk."; }
resource_template "day:///{day}" { name day; return "of $tool_arg_day"; }
END
my $inspector = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

sub result_of_inspector {
    my ($status, $result) = $inspector->inspect('--method', @_);
    is $status, 0, "@_" or diag $result;
    return $result;
}
is result_of_inspector('tools/list')->{tools}[0]{name}, 'say', 'a tool';
is result_of_inspector('tools/call', '--tool-name', 'say')
    ->{content}[0]{text}, 'this is said', 'its text';
is result_of_inspector('prompts/list')->{prompts}[0]{arguments}[0]{name},
    'commit', 'the argument of a prompt';
is result_of_inspector('prompts/get', '--prompt-name', 'review',
    '--prompt-args', 'commit=HEAD')->{messages}[0]{content}{text},
    'Please review HEAD.', 'its message';
is result_of_inspector('resources/list')->{resources}[0]{uri},
    'note:///todo', 'a resource';
is result_of_inspector('resources/read', '--uri', 'note:///todo')
    ->{contents}[0]{text}, 'Buy milk.', 'its text';
is result_of_inspector('resources/templates/list')
    ->{resourceTemplates}[0]{uriTemplate}, 'day:///{day}', 'a template';
is result_of_inspector('resources/read', '--uri', 'day:///monday')
    ->{contents}[0]{text}, 'of monday', 'the text of one of its URIs';
my ($status, $why) =
    $inspector->inspect('--method', 'resources/read', '--uri', 'day:/none');
isnt $status, 0, 'a resource that there is not';
like $why, qr/not found/i, 'is reported as that';

done_testing;
