"""Synthetic two-person chats with questions and exact gold turns, made from a small world model.

    python benchmarks/training/generate.py OUT --seed 7 --conversations 6

Why: the ranking weights that ship are fitted on data of our own. No benchmark's text is copied or paraphrased here, so
measuring on a public benchmark afterwards says something about chats the weights have never seen.

What: OUT/generated-1.json and so on. A chat covers about nine months in ten sessions. The world gives two friends jobs,
animals, pastimes, journeys, plans that come true a session later; some of it both share, some of it differs in one
value, some belongs to one of them only. Every fact is told in one of many phrasings, plainly, as a photo, or as a short
answer that leaves the topic's words to the question before it. Replies mention wrong values on purpose. Questions use
other words than statements. Gold turns are zero-based [session, turn] pairs, and every turn that answers is among them.
A question of the category "adversarial" asks about the wrong person; its gold is the turn that it distorts.

The phrasings of the facts stand in topics.txt beside this file. The same arguments always write the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

GREETINGS = """Hey {Q}, long time! How are you? / Good evening {Q}, are you still up? / There you are, {Q}! All well?
Hi {Q}, finally a quiet minute. / {Q}! I was just thinking of you. / Hello stranger, how is life?
Sorry for the silence, {Q}, it has been a month. / Evening! Tea is ready, tell me everything."""
REPLIES = """Hi {Q}! Tired but fine. / Cannot complain, the sun was out. / Oh, good to hear from you. Muddling through.
Well enough, thanks. / All in one piece, and you? / Better now. What a week. / Same as ever, a bit greyer."""
REACTIONS = """Oh wow, I did not see that coming. / Ha, typical you! / That made my day, honestly.
I am all ears, go on. / No way! / Lovely, I am happy for you. / Goodness, and how do you feel about it?
You never do things by halves. / I need a moment to take that in. / Only you, honestly. / That deserves a toast.
Tell me the long version soon."""
FILLERS = """It has been raining here for days. / The trams are on strike again, by the way. / Hang on, doorbell. Back!
I keep losing my glasses. / They are digging up our street once more.
I am eating toast while I type, excuse crumbs. / My upstairs neighbour is moving furniture again.
Did you see the moon just now? / The neighbours are having a party. / I should have gone to bed early for once.
Somebody parked in front of our gate again. / Anyway, your turn. / The clocks confuse me every single time.
I burnt the rice, the pan is soaking. / There is a wasp in here, one second. / Lunch was a disappointment.
I have been humming the same tune all day. / Sorry, the connection is dreadful. / What a strange month this is.
The bakery on the corner has closed for good. / My inbox is a horror. / I am typing this under two blankets.
The lift is out of order, six floors on foot! / I found a coin from 1971 in my coat. / My tea has gone cold again.
They say the swimming pool will be closed for repairs. / I cannot find the other sock. / The kettle is whistling.
Everyone at the till was grumpy today. / The evening light is so pretty from here. / I should water the plants."""
NUDGES = """And you, anything new on your side? / What else is going on with you? / Enough of me, tell me something.
How has your month been otherwise? / Now you. / Come on, you have more to tell. / What have you been up to, then?
And what keeps you busy? / Distract me with your news. / So what did I miss? / How are things over there?"""
TAILS = """I still cannot quite believe it. / It took me long enough to get round to it. / You can imagine the rest.
I have been grinning all day because of it, and the people on the bus moved away from me. / Long overdue, I know.
My hands are shaking while I write this, partly from cold and partly from pride. / Mum says I have lost my mind.
I wanted you to hear it from me first. / There is a longer version of the story, but not before dinner.
Do not say a word to the others yet, please, I want to see their faces. / Do you remember how often I talked of it?
Everyone here has an opinion about it, of course, mostly a loud one. / I did not sleep much, as you can guess.
It was all rather spontaneous, which you know is not my style at all. / Ask me again in a year whether it was wise.
I thought of you the whole time and of what you would have said. / It feels like the right thing, for once."""
GOODBYES = """I have to run, talk soon! / Bed calls. Sleep well, {Q}. / Battery at two percent, bye! / Take care, {Q}.
Off to catch the bus. Hugs! / Right, the washing up is waiting. Until next time."""
NAMES = "Mina,Karl;Tove,Anselm;Bettina,Yusuf;Orla,Pascal;Ingmar,Lucinda;Zelda,Matteo;Farid,Greta;Noor,Eskil;Hanne,Basil"
QUOTAS = {"single": 20, "temporal": 11, "multi": 9, "adversarial": 10}


@dataclass(frozen=True)
class Topic:
    """One kind of fact: its values and every way to tell it, answer it and ask for it."""

    name: str
    many: bool
    slots: dict[str, dict[str, list[str]]] = field(default_factory=lambda: {"v": {}, "w": {}})
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Event:
    """Something told in one session by one person; `at` is its turn once written."""

    topic: Topic
    person: int
    values: dict[str, str]
    session: int
    outcome: bool = False
    day: datetime | None = None
    at: tuple[int, int] = (-1, -1)


def phrases(text: str) -> list[str]:
    """Split lines of phrasings."""
    return [phrase.strip() for line in text.splitlines() for phrase in line.split(" / ")]


def topics() -> list[Topic]:
    """Parse topics.txt; its head explains the markers."""
    found: list[Topic] = []
    for line in (Path(__file__).parent / "topics.txt").read_text(encoding="utf-8").splitlines():
        marker, rest = line[:1], line[2:]
        if marker in ("", ";"):
            continue
        if marker == "=":
            name, *flags = rest.split()
            found.append(Topic(name, "many" in flags))
        elif marker in "vw":
            slot, values = rest.split(": ", 1)
            found[-1].slots[marker][slot] = values.split("; ")
        else:
            found[-1].lines[marker] += phrases(rest)
    return found


def sentence(text: str) -> str:
    """Capitalise the beginnings of sentences."""
    return re.sub(r"(^|[.!?\]] )([a-zà-ÿ])", lambda match: match[1] + match[2].upper(), text)


def past(rng: Random, now: datetime, day: datetime) -> str:
    """Say `day` as seen from a later or equal `now`."""
    gap = (now.date() - day.date()).days
    choices = [f"on {day.day} {day:%B}"]
    if gap == 0:
        return "this morning"
    if gap == 1:
        return "yesterday"
    if gap <= 6:
        choices += [f"{gap} days ago", f"on {day:%A}", f"last {day:%A}"]
    elif gap % 7 == 0:
        choices += [{7: "a week ago", 14: "a fortnight ago", 21: "three weeks ago"}[gap]] * 2
    elif gap < 14:
        choices += [f"{gap} days ago", f"{day:%A} last week" if gap - now.weekday() <= 7 else f"{gap} days back"]
    return rng.choice(choices)


def future(rng: Random, now: datetime, day: datetime) -> str:
    """Say `day` vaguely as seen from about a month before: only the outcome gives the date."""
    choices = ["in a few weeks", "before we talk again", "rather soon"]
    if (day.year * 12 + day.month) - (now.year * 12 + now.month) == 1:
        choices.append("next month")
    return rng.choice(choices)


def calendar(rng: Random, sessions: int = 10) -> list[datetime]:
    """Return the dates of the sessions, four weeks or so apart."""
    now = datetime(rng.choice((2022, 2023, 2024)), rng.randint(1, 9), rng.randint(1, 28), tzinfo=UTC)
    dates = []
    for _ in range(sessions):
        dates.append(now.replace(hour=rng.randint(17, 21), minute=rng.choice((0, 5, 20, 40, 55))))
        now += timedelta(days=rng.randint(24, 31))
    return dates


def told_by(rng: Random, topic: Topic) -> list[tuple[int, dict[str, str]]]:
    """Choose who has facts of a topic and which: one person, both alike, both differently, or several each."""
    shuffled = {slot: rng.sample(values, len(values)) for slot, values in topic.slots["v"].items()}
    people: tuple[int, ...] = rng.choice(((0,), (1,), (0, 1), (0, 1)))
    if topic.many:
        people = (0, 0, 1, 1, *rng.sample((0, 1), rng.randint(0, 2)))
    facts = [(person, {slot: values[at] for slot, values in shuffled.items()}) for at, person in enumerate(people)]
    if len(facts) == 2 and topic.lines["%"] and rng.random() < 0.6:
        first = next(iter(shuffled))
        facts[1][1][first] = facts[0][1][first]
    return facts


def world(rng: Random, dates: list[datetime]) -> list[Event]:
    """Invent what the two persons tell, and in which session."""
    events: list[Event] = []
    load = [0] * len(dates)

    def place(topic: Topic, person: int, last: int) -> int:
        taken = {event.session for event in events if event.topic is topic and event.person == person}
        free = [at for at in range(last) if at not in taken]
        session = min(rng.sample(free, min(4, len(free))), key=lambda at: load[at])
        load[session] += 1
        return session

    for topic in topics():
        late = topic.slots["w"]
        for person, values in told_by(rng, topic):
            session = place(topic, person, len(dates) - bool(late))
            if not late:
                day = dates[session] - timedelta(days=rng.choice((0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 21)))
                events.append(Event(topic, person, values, session, day=day))
                continue
            day = dates[session + 1] - timedelta(days=rng.randint(1, 7))
            outcome = {slot: rng.choice(choices) for slot, choices in late.items()}
            events.append(Event(topic, person, values, session, day=day))
            events.append(Event(topic, person, values | outcome, session + 1, outcome=True, day=day))
            load[session + 1] += 1
    return events


class Chat:
    """One chat being written."""

    def __init__(self, rng: Random, speakers: list[str]) -> None:
        self.rng = rng
        self.speakers = speakers
        self.dates = calendar(rng)
        self.events = world(rng, self.dates)
        self.sessions: list[list[list[str]]] = []
        self.bags: dict[str, list[str]] = {}

    def pick(self, name: str, options: list[str]) -> str:
        """Draw without repetition until all options of a name are used up."""
        if not self.bags.get(name):
            self.bags[name] = self.rng.sample(options, len(options))
        return self.bags[name].pop()

    def speak(self, person: int, text: str, **values: str) -> tuple[int, int]:
        """Add to the session, to the last turn if that is the person's own, and return where it stands."""
        turns = self.sessions[-1]
        said = sentence(text.format(P=self.speakers[person], Q=self.speakers[1 - person], **values))
        if turns and turns[-1][0] == self.speakers[person]:
            turns[-1][1] += f" {said}"
        else:
            turns.append([self.speakers[person], said])
        return len(self.sessions) - 1, len(turns) - 1

    def chatter(self, person: int) -> None:
        """Small talk: one person's remark and the other's."""
        for who in (person, 1 - person):
            for _ in range(self.rng.randint(1, 2)):
                self.speak(who, self.pick("filler", phrases(FILLERS)))

    def react(self, event: Event) -> None:
        """Let the other person reply, now and then with values that are true of nobody here."""
        topic, other = event.topic, 1 - event.person
        if self.rng.random() < 0.5:
            self.speak(other, self.pick("reaction", phrases(REACTIONS)))
            return
        told = [known.values for known in self.events if known.topic is topic]
        wrong = {
            slot: self.rng.choice([value for value in values if all(fact[slot] != value for fact in told)] or ["that"])
            for slot, values in topic.slots["v"].items()
        }
        self.speak(other, self.pick(f"-{topic.name}", topic.lines["-"]), **wrong)

    def tell(self, event: Event) -> None:
        """Write an event's turn and what surrounds it."""
        rng, lines, now = self.rng, event.topic.lines, self.dates[event.session]
        assert event.day is not None
        when = (future if event.topic.slots["w"] and not event.outcome else past)(rng, now, event.day)
        values = event.values | {"when": when, "soon": when}
        way = "~" if event.outcome else rng.choice([mark for mark in "+++++!!<<<" if lines[mark]])
        text = self.pick(way + event.topic.name, lines[way])
        if way == "<":
            self.speak(1 - event.person, text)
            text = lines[">"][lines["<"].index(text)]
        elif self.sessions[-1][-1][0] == self.speakers[event.person]:
            self.speak(1 - event.person, self.pick("nudge", phrases(NUDGES)))
        event.at = self.speak(event.person, text, **values)
        if rng.random() < 0.6:
            self.speak(event.person, self.pick("tail", phrases(TAILS)))
        self.react(event)

    def write(self) -> None:
        """Write all sessions."""
        for session in range(len(self.dates)):
            self.sessions.append([])
            first = self.rng.randrange(2)
            self.speak(first, self.pick("greeting", phrases(GREETINGS)))
            self.speak(1 - first, self.pick("reply", phrases(REPLIES)))
            units: list[Event | None] = [event for event in self.events if event.session == session]
            units += [None] * max(0, self.rng.randint(5, 8) - len(units))
            self.rng.shuffle(units)
            for unit in units:
                if unit is None:
                    self.chatter(1 - self.speakers.index(self.sessions[-1][-1][0]))
                else:
                    self.tell(unit)
            self.speak(first, self.pick("goodbye", phrases(GOODBYES)))
            self.speak(1 - first, self.pick("goodbye", phrases(GOODBYES)))

    def ask(self, marker: str, category: str, events: list[Event], person: int | None = None) -> dict[str, Any]:
        """Return a question on events, about `person` or whoever told the first."""
        event = events[0]
        about = event.person if person is None else person
        text = self.pick(f"{marker}{event.topic.name}{about}", event.topic.lines[marker])
        named = {"P": self.speakers[about], "Q": self.speakers[1 - about]}
        gold = sorted(list(known.at) for known in events)
        return {"text": text.format(**event.values | named), "category": category, "gold": gold}

    def orders(self) -> list[dict[str, Any]]:
        """Return questions on which of two events of one person was earlier."""
        asked = []
        for person in (0, 1):
            dated = [e for e in self.events if e.person == person and e.topic.lines["n"] and e.topic.lines["@"]]
            dated = [e for e in dated if e.outcome or not e.topic.slots["w"]]
            one, two = self.rng.sample(dated, 2)
            if one.day == two.day:
                continue
            text = self.rng.choice(("What was earlier for {P}, {a} or {b}?", "Did {P} have {a} first, or {b}?"))
            text = text.format(P=self.speakers[person], a=one.topic.lines["n"][0], b=two.topic.lines["n"][0])
            asked.append({"text": text, "category": "temporal", "gold": sorted([list(one.at), list(two.at)])})
        return asked

    def questions(self) -> list[dict[str, Any]]:
        """Return the questions, as many of each category as QUOTAS wants and the world gives."""
        groups: dict[tuple[str, int], list[Event]] = defaultdict(list)
        for event in self.events:
            groups[event.topic.name, event.person].append(event)
        found = self.orders()
        for (name, person), events in groups.items():
            others, topic = groups.get((name, 1 - person), []), events[0].topic
            for event in events:
                asks = "*" if event.outcome else "?"
                found.append(self.ask(asks, "single", [event]))
                if topic.lines["@"] and (event.outcome or not topic.slots["w"]):
                    found.append(self.ask("@", "temporal", [event]))
                if topic.many or not others:
                    found.append(self.ask(asks, "adversarial", [event], 1 - person))
            if topic.lines["&"] or topic.lines["#"]:
                found.append(self.ask("&" if topic.many else "#", "multi", events))
            first = next(iter(topic.slots["v"]))
            if topic.lines["%"] and person == 0 and others and events[0].values[first] == others[0].values[first]:
                found.append(self.ask("%", "multi", [*events, *others]))
        self.rng.shuffle(found)
        unique = list({question["text"]: question for question in found}.values())
        return [
            question
            for category, count in QUOTAS.items()
            for question in [entry for entry in unique if entry["category"] == category][:count]
        ]


def generate(seed: int, number: int) -> dict[str, Any]:
    """Return one chat, the same for the same seed and number."""
    rng = Random(f"{seed}/{number}")
    names = NAMES.split(";")
    chat = Chat(rng, names[(seed + number) % len(names)].split(","))
    chat.write()
    sessions = [
        {"date": f"{date:%Y-%m-%dT%H:%M:%SZ}", "turns": turns}
        for date, turns in zip(chat.dates, chat.sessions, strict=True)
    ]
    name = f"generated-{number}"
    return {"name": name, "speakers": chat.speakers, "sessions": sessions, "questions": chat.questions()}


def main() -> int:
    """Write the chats."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--conversations", type=int, default=6)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for number in range(1, arguments.conversations + 1):
        chat = generate(arguments.seed, number)
        text = json.dumps(chat, ensure_ascii=False, indent=1) + "\n"
        (arguments.out / f"{chat['name']}.json").write_text(text, encoding="utf-8")
    print(f"{arguments.conversations} conversations")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
