"""English word lists of the analyser: function words, contractions and irregular forms.

Not a language model and not complete: each list only holds what helps a search more often than it hurts. Negations
(`not`, `no`, `never`, `without`, `nor`) are in no list of function words, because they turn a memory into its opposite.
`may` is in none either: it is a month. All entries are lower case and ASCII. Any change here needs a new
`ANALYSER_VERSION`.
"""

from __future__ import annotations

_CORE = """
a an the of to in on at by for with from as and or is are was were be been being am it its this that these those
i you he she we they me him her us them my your his our their
"""

_QUERY = """
what who whom whose which when where why how do does did doing done can could will would shall should might must
has have had having there here about into onto over than then so too very just all any some such if but also only
both each more most other own same mine yours hers ours theirs myself yourself
"""

CORE_WORDS = frozenset(_CORE.split())
"""Words that are never indexed and never searched for."""

QUERY_WORDS = frozenset(_QUERY.split())
"""Words that are indexed, but searched for only by a query that has no other words."""

CLITICS = frozenset(("s", "m", "re", "ve", "ll", "d"))
"""What may follow an apostrophe and says nothing: Maria's, I'm, they're, we've, she'll, he'd."""

CONTRACTED = {"can": "can", "won": "will", "shan": "shall", "ain": "is"}
"""The word before `'t` to the word it stands for, where dropping its `n` does not give it."""

# Forms with a second, common meaning are left out on purpose: left, saw, found(ed), bit, lives, leaves, rose, lay.
_IRREGULAR = """
be: being
become: became
begin: began begun
blow: blew blown
break: broke broken
bring: brought
build: built
buy: bought
catch: caught
choose: chose chosen
come: came
deal: dealt
do: did does done
draw: drew drawn
drink: drank drunk
drive: drove driven
eat: ate eaten
fall: fell fallen
feed: fed
feel: felt
fight: fought
find: found
fly: flew flown
forbid: forbade forbidden
forget: forgot forgotten
forgive: forgave forgiven
freeze: froze frozen
get: got gotten
give: gave given
go: went gone goes
grow: grew grown
have: has had
hear: heard
hide: hid hidden
hold: held
keep: kept
know: knew known
lead: led
lend: lent
lose: lost
make: made
mean: meant
meet: met
pay: paid
ride: rode ridden
ring: rang rung
run: ran
say: said
see: seen
seek: sought
sell: sold
send: sent
shake: shook shaken
show: shown
shrink: shrank shrunk
sing: sang sung
sit: sat
sleep: slept
speak: spoke spoken
spend: spent
stand: stood
steal: stole stolen
stick: stuck
swear: swore sworn
swim: swam swum
take: took taken
teach: taught
tell: told
think: thought
throw: threw thrown
understand: understood
wake: woke woken
wear: wore worn
win: won
write: wrote written
child: children
criterion: criteria
foot: feet
goose: geese
half: halves
hypothesis: hypotheses
index: indices
knife: knives
man: men
matrix: matrices
mouse: mice
person: people
shelf: shelves
thief: thieves
tooth: teeth
vertex: vertices
wife: wives
wolf: wolves
woman: women
mother: mom moms mum mums mommy mummy
father: dad dads daddy
grandmother: grandma grandmas granny
grandfather: grandpa grandpas
photo: photograph photographs
bicycle: bike bikes
phone: telephone telephones
refrigerator: fridge fridges
television: tv tvs
"""

IRREGULAR = {
    form: lemma
    for lemma, _, forms in (line.partition(":") for line in _IRREGULAR.strip().splitlines())
    for form in forms.split()
}
"""Irregular or everyday form to the word it is indexed as, before stemming."""
