# A prize that is won and the number of prizes won, with Perl's DBI: both are there afterwards, or neither.
#
#   splitcount define prizes_won --slots 11 --pick value --db postgresql:dbname=shop
#   perl prize.pl dbname=shop 4714 Margaret
use strict;
use warnings;
use DBI;

my ($address, $prize_id, $winner) = @ARGV;
my $db = DBI->connect("dbi:Pg:$address", undef, undef, {AutoCommit => 1, RaiseError => 1, PrintError => 0, PrintWarn => 0});
$db->do('CREATE TABLE IF NOT EXISTS prizes(prize_id bigint PRIMARY KEY, winner text NOT NULL)');

$db->begin_work;
my $done = eval {
    $db->do('INSERT INTO prizes(prize_id, winner) VALUES (?, ?)', undef, $prize_id, $winner);
    $db->selectrow_array('SELECT prizes_won_add(value => ?)', undef, $prize_id);
    $db->commit;
};
if (!$done) {
    my ($error, $state) = ($@, $db->state);
    $db->rollback;
    die $error if $state ne '23505';    # unique_violation
    print "prize $prize_id was won before, and is counted once\n";
}

my ($total) = $db->selectrow_array('SELECT total FROM prizes_won');
print "prizes won: $total\n";
$db->disconnect;
