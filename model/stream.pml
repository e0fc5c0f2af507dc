/* The protocol of docs/protocol.md, for spin: every order in which the commits, openings, late puts, trims, tombstones
 * and deletes of one small stream can happen. README.md beside it says how to run it and how to read what it finds.
 *
 * What stands for what, and why nothing is lost by it:
 * - A committer is whoever commits: a holder of a producer's name, a run of a training job, an operator. To read the
 *   newest version, check every precondition, freeze an attempt and send it is one step. A pause between the read and
 *   the arrival of the put is a put that lands late, which the store may do at any time; a slot cannot tell the two.
 * - An attempt on an older version only loses. A verdict on an older one may be wrong: "fenced" where the opening came
 *   later, "dead" where the announcement did. So both are by the newest version: two mutations go by an older one.
 * - The newest version is read at one instant. Finding it takes many requests, but slots are occupied from 1 on and for
 *   ever, so what is found was the newest at some instant between. Its content can only have become a tombstone since,
 *   and then it is looked for again.
 * - A put that was sent stays in flight until its slot is occupied. So it may land late, after its sender has given up
 *   or died, or never; a second delivery finds the slot occupied and does nothing. "Exists", 409, 429, 5xx, timeouts
 *   and resets are one thing: the sender reads its slot. While it finds it empty, nothing has changed.
 * - Who crashes, or closes after UnknownOutcome, is one that takes no further step. A search of safety looks at each
 *   state on the way, so it has seen that; only searches for termination let processes die in so many words.
 * - Commit ids are equal where committer and slot are: one committer freezes one attempt a slot. Who won a slot is kept
 *   for those only that may still ask.
 * - A version is the one before, changed by its attempt. That a committer carries everything else along is a copy of a
 *   struct in the code (BeginNext), no matter of order. What depends on the base is frozen with the attempt, and is
 *   compared with the version that it lands on: seqs, steps, trims. That is stricter than comparing hashes.
 * - The source's n-th item is published with seq n. Seqs, steps and versions only count up, so that few of them show
 *   what is to be seen between few processes. Each configuration is searched to its end.
 * - All versions but the newest may be tombstones, and a row may go as soon as its producer has finished: both much
 *   sooner than in the code. keep_last is 1, which trims most.
 * - LIST, read and DELETE are looked at one key at a time. Keys never come back and an upload stays visible, so what is
 *   true of each key is true of a LIST of many. A key that was judged dead is DOOMED: a DELETE is on its way, which may
 *   land at any time, twice, or not at all; so no version may reach the key from the verdict on. What a reclaimer
 *   removes right after a trim is dead by the same rules, and any number of reclaimers doom no more than one.
 * - Of archived history there is that it is written for a version, and dead when that is decided and does not name it.
 * - A combiner commits what others have announced. That a committer takes it along with batches of its own, or many
 *   announcements at once, is as many versions in a row, since rows have nothing to do with one another; the one thing
 *   that meets in one row, an opening and a run of the holder before, MUTATION_RUNS_BESIDE_AN_OPENING looks at.
 * - What a holder has uploaded it has announced, in any part; who reads it may have done so at any time before. So a
 *   combiner may take any of it whenever its rules allow, deleted meanwhile or not, and reading has no step of its own.
 *   Of its own announcement a holder learns no more than that it is gone, which makes it read the newest version.
 * - An opening announced anew has a larger base, and whatever keeps that out keeps out the older one: they are of one
 *   nonce. So the last base stands for all. The row's nonce says whose opening came last, as `owner` does.
 * - A producer may finish before what it announced is committed (FINISHES). The code does not: so it is seen what the
 *   rule is for.
 * Not in here: indexes and folding of history, cursors other than by item, several producers of one committer (they
 * share its fate), groups that are created or dropped, pinned checkpoints, quarantines, the deletion of a stream,
 * the order in which announcements are read, and chance: how soon somebody wins is for the simulator.
 *
 * Each MUTATION_ breaks one rule, and a search of it must fail; run.py lists them. Committers count from 0: first the
 * holders, then the runs, then the combiners, then the operator. */

/* Sizes. */
#ifndef NAMES
#define NAMES 1
#endif
#ifndef HOLDERS
#define HOLDERS 2 /* in all; holder h holds the name h % NAMES, or will, or did */
#endif
#ifndef BATCHES
#define BATCHES 1 /* a holder, who holds its name first */
#endif
#ifndef LATER_BATCHES
#define LATER_BATCHES BATCHES /* one who comes later */
#endif
#ifndef GROUPS
#define GROUPS 0
#endif
#ifndef RUNS
#define RUNS 0 /* of training jobs, in all; run r is of the group r % GROUPS */
#endif
#ifndef CHECKPOINTS
#define CHECKPOINTS 1 /* a run */
#endif
#ifndef OPERATORS
#define OPERATORS 0 /* 1: somebody seals the stream (SEALS), or a finished row goes (FORGETS) */
#endif
#ifndef PACKINGS
#define PACKINGS 1 /* 2: each batch may be packed twice, into different bytes */
#endif
#ifndef COMBINERS
#define COMBINERS 0 /* who commit what others announce, and nothing of their own */
#endif
#ifndef DRAWS
#define DRAWS 1 /* how often an opening is announced at most, where there are combiners */
#endif
#ifndef OPENING_VERSIONS
#define OPENING_VERSIONS NEVER /* how long an announced opening may be taken, and a row that finished stays */
#endif
#ifndef FAULTS
#define FAULTS 0 /* in a search for termination: deaths and lost puts before faults stop */
#endif
#define BATCHES_IN_ALL (HOLDERS * LATER_BATCHES + NAMES * (BATCHES - LATER_BATCHES))
/* Each opening, batch, session, checkpoint and operator's command is committed once, at most; an opening that was
 * overtaken before its holder knew of it once more, for each time that it is announced. */
#ifndef VERSIONS
#if COMBINERS > 0
#define OPENINGS (HOLDERS * (1 + DRAWS))
#else
#define OPENINGS HOLDERS
#endif
#ifdef FINISHES
#define EARLY_ENDS HOLDERS
#else
#define EARLY_ENDS 0
#endif
#define VERSIONS (BATCHES_IN_ALL + OPENINGS + EARLY_ENDS + RUNS * (1 + CHECKPOINTS) + OPERATORS)
#endif
#if GROUPS > 0
#define SOME_GROUPS GROUPS
#else
#define SOME_GROUPS 1 /* an array has at least one element */
#endif
#define COMMITTERS (HOLDERS + RUNS + COMBINERS + OPERATORS)
#define OPERATOR (COMMITTERS - 1)
#define COMBINER(i) (HOLDERS + RUNS + (i))
#define STRAY COMMITTERS /* a put that its sender thinks no more of; only mutations have one */
#define KEYS (HOLDERS * BATCHES * PACKINGS)
#ifdef MUTATION_NO_NONCE
#define KEY(h, j, packing) (((h) * BATCHES + (j)) * PACKINGS)
#else
#define KEY(h, j, packing) (((h) * BATCHES + (j)) * PACKINGS + (packing))
#endif

#if defined(MUTATION_DELETED_SLOTS) || defined(MUTATION_OVERWRITE_REMOVES)
#define SLOTS_OPEN_AGAIN
#endif

#define NAME(h) ((h) % NAMES)
#define BATCHES_OF(h) ((h) < NAMES -> BATCHES : LATER_BATCHES)
#define NEVER 255

/* What an attempt changes. */
mtype = { FORGET, SEAL, CHECKPOINT, SESSION, ENTRIES, OPENING };

/* What a committer's slot holds. */
#define NOTHING 0
#define OURS 1
#define THEIRS 2

/* A producer's row. */
#define NO_ROW 0
#define OPEN 1
#define FINISHED 2

/* The id is that of docs/protocol.md, or of docs/faults.md. */
#define holds(claim, told) \
  if :: claim \
     :: else -> printf(told); assert(false) \
  fi

/* The newest version. */
byte version;
byte incarnation[NAMES], seq[NAMES], row[NAMES];
bit sealed;
byte next_step;
byte first_step;
byte session[SOME_GROUPS], start[SOME_GROUPS], checkpoint[SOME_GROUPS];
bit start_held[SOME_GROUPS];

/* The store otherwise: how many versions were retired, from the oldest, and the data. */
byte retired;
byte open_slot; /* only on a store that breaks the rule for overwriting, 0: none */
byte object[KEYS];  /* 0: not there, else 1 + which packing's bytes it holds */
bit doomed[KEYS];
byte end_of[KEYS];  /* one past the step that names it; 0: none does */
#ifdef ARCHIVES /* Each attempt of a holder with entries has an archived object of its own. */
byte archived_for[HOLDERS]; /* the version that the holder's newest one was written for; 0: none, or it was named */
bit archive_doomed[HOLDERS];
#endif

/* Each committer's attempt, frozen. slot 0: none. */
mtype kind[COMMITTERS + 1];
byte slot[COMMITTERS + 1];
byte first_item[COMMITTERS + 1], base_seq[COMMITTERS + 1];
byte items[COMMITTERS + 1], base_step[COMMITTERS + 1], position[COMMITTERS + 1], trim_to[COMMITTERS + 1];
byte packings[COMMITTERS + 1]; /* bit j: the second packing of the holder's batch j is named */
bit finish[COMMITTERS + 1];
bit in_flight[COMMITTERS + 1];
byte found[COMMITTERS + 1];
byte stray_of; /* who sent what is in flight as STRAY */
#if COMBINERS > 0
byte whose[COMMITTERS + 1]; /* the holder whose announcement a combiner's attempt takes */
#ifdef MUTATION_RUNS_BESIDE_AN_OPENING
byte beside[COMMITTERS + 1]; /* 1 + the holder whose announced batch it takes besides */
#endif
#endif
byte faults = FAULTS;

/* What is true, whatever processes believe. */
byte owner[NAMES];     /* 1 + the holder whose opening came last */
byte opened[HOLDERS];  /* the incarnation that its opening got; 0: it has not landed */
byte begins[HOLDERS];  /* seq before its first batch */
bit begun[HOLDERS];    /* it has sent something */
byte landed[HOLDERS];  /* the last item that a version took from it */
#if PACKINGS > 1
byte landed_packings[HOLDERS]; /* bit j: it took the second packing of batch j */
#endif
#if COMBINERS > 0
byte announced[HOLDERS];    /* the last item that it has announced */
byte opening_base[HOLDERS]; /* 1 + the base of its announced opening; 0: none */
bit had[HOLDERS];           /* it has learned of its opening */
#ifdef DELETES
byte deleted[HOLDERS], opening_deleted[HOLDERS]; /* up to which they are, or may be, deleted */
#endif
#ifdef MUTATION_PACKS_AGAIN
byte announced_packings[HOLDERS];
#else
#define announced_packings packings
#endif
#endif
byte needed[SOME_GROUPS];    /* the step to which the job must be able to return */
byte runs_now[SOME_GROUPS];  /* 1 + the run whose session is the current one */

byte d, g, j, k, by; /* of one atomic step, 0 between them */

#define reached(k) (end_of[k] > first_step)

/* Reads the newest version and sends an attempt to succeed it. */
inline freeze(c, change) {
  slot[c] = version + 1;
  kind[c] = change;
  base_step[c] = next_step;
  in_flight[c] = 1;
  found[c] = NOTHING;
  printf("committer %d sends %e for slot %d\n", c, kind[c], slot[c])
}

inline clear(c) {
  slot[c] = 0; kind[c] = 0; first_item[c] = 0; base_seq[c] = 0; items[c] = 0; base_step[c] = 0; position[c] = 0;
  trim_to[c] = 0; finish[c] = 0; in_flight[c] = 0; found[c] = NOTHING
}

/* The put that its sender believes past, or has replaced, stays in flight. */
inline leave_stray(c) {
  slot[STRAY] = slot[c]; kind[STRAY] = kind[c]; first_item[STRAY] = first_item[c]; base_seq[STRAY] = base_seq[c];
  items[STRAY] = items[c]; base_step[STRAY] = base_step[c]; position[STRAY] = position[c]; trim_to[STRAY] = trim_to[c];
  packings[STRAY] = packings[c]; finish[STRAY] = finish[c]; in_flight[STRAY] = 1;
  stray_of = c
}

inline land_opening(c) {
  holds(!sealed, "broken: M9, an opening follows the seal\n");
#if COMBINERS > 0
  holds(!had[by], "broken: I6, an opening is taken again that its holder has had\n");
#ifdef DELETES
  holds(c == by || opening_base[by] > opening_deleted[by], "broken: I8, an opening is taken that is being deleted\n");
#endif
#endif
  row[NAME(by)] = OPEN;
#ifdef MUTATION_INCARNATION_FROM_ROW
  incarnation[NAME(by)] = incarnation[NAME(by)] + 1;
#else
  incarnation[NAME(by)] = version;
#endif
  owner[NAME(by)] = by + 1;
  opened[by] = incarnation[NAME(by)];
  begins[by] = base_seq[c];
  landed[by] = base_seq[c]
}

/* Covers I2, I3, I5, I6, M16. */
inline land_entries(c) {
  holds(owner[NAME(by)] == by + 1, "broken: I6, an entry under an incarnation that has passed\n");
  holds(!sealed, "broken: M9, an entry follows the seal\n");
#ifndef TRUTH_IS_NOT_ASKED
  holds(row[NAME(by)] == OPEN, "broken: M16, an entry of a producer that has finished\n");
#endif
  holds(base_step[c] == next_step, "broken: I3, a step is left out or taken twice\n");
  holds(base_seq[c] == seq[NAME(by)], "broken: I2, a version does not extend the one before\n");
  holds(first_item[c] == seq[NAME(by)] + 1, "broken: I5, an item is left out or comes twice\n");
#if COMBINERS > 0 && defined(DELETES)
  holds(c == by || first_item[c] + items[c] - 1 > deleted[by],
        "broken: I8, a batch is taken whose announcement is being deleted\n");
#endif
#ifdef ARCHIVES
  holds(!archive_doomed[by], "broken: I8, a version names history that is being deleted\n");
  archived_for[by] = 0; /* reached from now on, as long as this model lasts */
#endif
  for (j : 0 .. BATCHES - 1) {
    if
    :: begins[by] + j + 1 >= first_item[c] && begins[by] + j + 1 < first_item[c] + items[c] ->
#ifdef DATA
      k = KEY(by, j, (packings[c] >> j) & 1);
      holds(!doomed[k], "broken: I8, a version names an object that is being deleted\n");
      holds(object[k] > 0, "broken: I4, a version names what is not there\n");
      holds(object[k] == ((packings[c] >> j) & 1) + 1, "broken: M4, an object holds other bytes than it should\n");
      end_of[k] = next_step + 1;
      k = 0;
#endif
#if PACKINGS > 1
      landed_packings[by] = landed_packings[by] | (packings[c] & (1 << j));
#endif
      next_step++
    :: else
    fi
  }
  j = 0;
  seq[NAME(by)] = seq[NAME(by)] + items[c];
  landed[by] = first_item[c] + items[c] - 1;
  if :: finish[c] -> row[NAME(by)] = FINISHED :: else fi
}

#if RUNS > 0
/* Covers I8. */
inline land_checkpoint(c) {
  g = (by - HOLDERS) % GROUPS;
  checkpoint[g] = position[c]; start_held[g] = 0; /* keep_last is 1: the one before is released */
  if :: runs_now[g] == by + 1 -> needed[g] = position[c] :: else fi;
  holds(trim_to[c] >= first_step, "broken: I8, the first step falls\n");
  holds(trim_to[c] <= next_step, "broken: I8, the first step passes the next one\n");
  first_step = trim_to[c];
  for (g : 0 .. GROUPS - 1) {
    holds(first_step <= needed[g], "broken: I8, a step is trimmed that a group holds\n")
  }
}
#endif

/* Covers I1, B4, M8. */
/* The create of c's slot succeeds. c may be STRAY; `by` is who sent it. */
inline land(c) {
  by = (c == STRAY -> stray_of : c);
  printf("slot %d is won by committer %d\n", slot[c], by);
  holds(slot[c] == version + 1, "broken: I1, a slot is won twice\n");
  holds(version < VERSIONS, "broken: B4, something is committed again and again\n");
  version++;
  for (d : 0 .. COMMITTERS - 1) {
    if
    :: slot[d] == version ->
      found[d] = (d == c -> OURS : THEIRS);
#ifdef MUTATION_NEW_BODY
      found[d] = (d == by -> OURS : THEIRS); /* the second body has the commit id of the first */
#endif
#ifdef MUTATION_SAME_COMMIT_IDS
      found[d] = OURS; /* forked children have drawn the same */
#endif
#ifndef SLOTS_OPEN_AGAIN
      in_flight[d] = 0 /* an occupied slot takes no put */
#endif
    :: else
    fi
  }
  d = 0;
#if COMBINERS > 0
  if :: c >= COMBINER(0) && c < COMBINER(COMBINERS) -> by = whose[c] :: else fi;
#endif
  if
  :: kind[c] == OPENING ->
    land_opening(c);
#if COMBINERS > 0 && defined(MUTATION_RUNS_BESIDE_AN_OPENING)
    if :: beside[c] > 0 -> by = beside[c] - 1; land_entries(c) :: else fi
#endif
  :: kind[c] == ENTRIES -> land_entries(c)
#if RUNS > 0
  :: kind[c] == SESSION ->
    g = (by - HOLDERS) % GROUPS;
    holds(position[c] >= first_step, "broken: I8, a session begins below the first step\n");
    session[g] = version; start[g] = position[c]; start_held[g] = 1;
    runs_now[g] = by + 1; needed[g] = position[c]
  :: kind[c] == CHECKPOINT -> land_checkpoint(c)
#endif
  :: kind[c] == SEAL -> sealed = 1
  :: kind[c] == FORGET ->
    row[0] = NO_ROW; seq[0] = 0; incarnation[0] = 0; owner[0] = 0
  fi;
  g = 0;
  if :: c == STRAY -> clear(STRAY); packings[STRAY] = 0; stray_of = 0 :: else fi;
  by = 0
}

/* The store carries out what is in flight. */
#define can_land(c) (in_flight[c] && (slot[c] == version + 1 || reopened(slot[c])) && bounded)
#if defined(MUTATION_DELETED_SLOTS)
#define reopened(s) ((s) <= retired)
#elif defined(MUTATION_OVERWRITE_REMOVES)
#define reopened(s) ((s) == open_slot)
#else
#define reopened(s) false
#endif
#ifdef BOUNDED /* for what commits again and again, harmlessly */
#define bounded (version < VERSIONS)
#else
#define bounded true
#endif

active proctype Store() {
  byte c;
end:
  do
  :: atomic {
      if
      :: can_land(0) -> c = 0
#if COMMITTERS > 1
      :: can_land(1) -> c = 1
#endif
#if COMMITTERS > 2
      :: can_land(2) -> c = 2
#endif
#if COMMITTERS > 3
      :: can_land(3) -> c = 3
#endif
#if COMMITTERS > 4
      :: can_land(4) -> c = 4
#endif
#if COMMITTERS > 5
      :: can_land(5) -> c = 5
#endif
#if COMMITTERS > 6
      :: can_land(6) -> c = 6
#endif
#if COMMITTERS > 7
#error "more committers than the store knows"
#endif
      :: can_land(STRAY) -> c = STRAY
      fi;
      land(c);
      c = 0
    }
  od
}

#ifdef TERMINATES
#ifdef MUTATION_NEVER_SENT_AGAIN
#define SENT_AGAIN(h)
#else
#define SENT_AGAIN(h) :: atomic { slot[h] > 0 && !in_flight[h] && found[h] == NOTHING -> in_flight[h] = 1 }
#endif
#define CRASHES(h) \
  :: atomic { faults > 0 -> faults--; printf("committer %d dies\n", h); goto gone }
#define DROPPED(h) \
  :: atomic { \
      in_flight[h] && faults > 0 -> faults--; in_flight[h] = 0; printf("the put of committer %d is lost\n", h) \
    } \
  SENT_AGAIN(h)
#else
#define CRASHES(h)
#define DROPPED(h)
#endif

/* Goes on once the committer knows how its attempt ended; `won` says how. */
#define KNOWS(c) (slot[c] > 0 && (found[c] != NOTHING || guesses))
#if defined(MUTATION_NO_READ_BACK) || defined(MUTATION_CONFLICT_IS_LOST)
#define guesses true
#else
#define guesses false
#endif

/* Covers A1, A2. */
inline decide(c, won) {
  won = (found[c] == OURS);
#ifdef MUTATION_NO_READ_BACK
  if :: found[c] == NOTHING -> won = true; printf("committer %d takes no answer for success\n", c) :: else fi;
#endif
#ifdef MUTATION_EXISTS_IS_OURS
  won = true;
#endif
#ifdef MUTATION_EXISTS_IS_LOST
  if :: won -> won = false; printf("committer %d takes its own commit for another's\n", c) :: true fi;
#endif
#ifdef MUTATION_TOMBSTONE_WITHOUT_COMMIT_ID
  if :: slot[c] <= retired -> won = false :: else fi;
#endif
#ifdef MUTATION_CONFLICT_IS_LOST
  if
  :: found[c] == NOTHING -> leave_stray(c); printf("committer %d takes a conflict for a lost race\n", c)
  :: else
  fi;
#endif
#ifndef TRUTH_IS_NOT_ASKED
  if
  :: !won -> holds(found[c] == THEIRS, "broken: A1, told lost what has landed or still may\n")
  :: else
  fi;
#endif
  if
  :: won -> printf("committer %d: slot %d is ours\n", c, slot[c])
  :: else -> printf("committer %d: slot %d is lost\n", c, slot[c])
  fi
}

#ifdef MUTATION_CHECKED_ONCE
#define precondition (!tried)
#else
#define precondition true
#endif
#ifdef MUTATION_SEAL_CHECKED_ONCE
#undef precondition
#define precondition (!tried)
#define fenced(h) (incarnation[NAME(h)] != mine || row[NAME(h)] != OPEN)
#else
#ifdef MUTATION_INCARNATION_UNCHECKED
#define fenced(h) false
#else
#define fenced(h) ((incarnation[NAME(h)] != mine || row[NAME(h)] != OPEN) && precondition)
#endif
#endif
#ifdef MUTATION_SEQ_UNCHECKED
#define covered(h) false
#else
#define covered(h) (seq[NAME(h)] > acked)
#endif

inline freeze_entries(h) {
#ifndef DATA
  uploaded = acked + 1; /* as many as there are now, one at least */
  do :: uploaded < goal -> uploaded++ :: break od;
#endif
  base_seq[h] = seq[NAME(h)];
  first_item[h] = acked + 1;
  items[h] = uploaded - acked;
#ifdef ARCHIVES
#ifdef MUTATION_ARCHIVE_USED_AGAIN
  if :: archived_for[h] == 0 -> archived_for[h] = version + 1 :: else fi;
#else
  archived_for[h] = version + 1; archive_doomed[h] = 0;
#endif
#endif
#ifdef FORGETS
  finish[h] = (uploaded == goal);
#endif
#ifndef DATA
  uploaded = 0;
#endif
  freeze(h, ENTRIES)
}

/* Covers I7, M2, M15. */
inline acknowledge(h, item) {
  printf("holder %d acknowledges up to seq %d\n", h, item);
  acked = item;
  holds(acked <= landed[h], "broken: I7, acknowledged and in no version\n");
#if PACKINGS > 1
  holds(((landed_packings[h] ^ packings[h]) & ((1 << (acked - begins[h])) - 1)) == 0,
        "broken: M15, acknowledged is another batch than the one in the version\n")
#endif
}

#ifdef DATA
inline upload(h, batch) {
  j = batch;
#if PACKINGS > 1
  if :: packings[h] = packings[h] | (1 << j) :: skip fi;
#endif
  k = KEY(h, j, (packings[h] >> j) & 1);
  /* A create: what is there already is taken for what was sent, since nobody else writes that key. */
  if :: object[k] == 0 -> object[k] = ((packings[h] >> j) & 1) + 1 :: else fi;
  printf("holder %d has uploaded its batch %d under key %d\n", h, j, k);
#if COMBINERS > 0
  announced[h] = begins[h] + j + 1;
#ifdef MUTATION_PACKS_AGAIN
  announced_packings[h] = packings[h];
#endif
#endif
  j = 0; k = 0
}
#define some_uploaded (uploaded > acked)
#else
#define some_uploaded (goal > acked)
#endif

/* At its end, what nobody asks any more is made alike. */
inline leave(h) {
#if !defined(DATA) && COMBINERS == 0
  opened[h] = 0; begins[h] = 0; landed[h] = 0;
#endif
  mine = 0; acked = 0; uploaded = 0; goal = 0; won = 0; tried = 0
}

/* Names, and holders of a name, differ in nothing but their number: who begins first may have the lower one. */
#define my_turn_to_begin(h) ((h) == 0 || ((h) < NAMES -> begun[(h) - 1] : begun[(h) - NAMES]))

/* Of combiners: what their rules, asked of the newest version, let them take. */
#if COMBINERS > 0
#ifdef MUTATION_ANNOUNCED_INCARNATION_UNCHECKED
#define is_incarnation(h) true
#else
#define is_incarnation(h) (incarnation[NAME(h)] == opened[h])
#endif
#ifdef MUTATION_ANNOUNCED_FINISHED_UNCHECKED
#define goes_on(h) true
#else
#define goes_on(h) (row[NAME(h)] == OPEN)
#endif
#ifdef MUTATION_ANNOUNCED_SEAL_UNCHECKED
#define ended false
#else
#define ended sealed
#endif
#ifdef MUTATION_ANNOUNCED_SEQ_UNCHECKED
#define next_item(h) (begins[h] + 1)
#else
#define next_item(h) (seq[NAME(h)] + 1)
#endif
#define run_is_taken(h) (announced[h] >= next_item(h) && is_incarnation(h) && goes_on(h) && !ended)
#define run_is_dead(h) \
  (incarnation[NAME(h)] != opened[h] || announced[h] <= seq[NAME(h)] || row[NAME(h)] != OPEN || sealed)

/* Of a version that is built on this one, or is this one. */
#ifdef MUTATION_OPENING_BASE_UNCHECKED
#define is_overtaken(h) false
#else
#define is_overtaken(h) (incarnation[NAME(h)] > opening_base[h] - 1)
#endif
#ifdef MUTATION_OPENING_AGE_UNCHECKED
#define is_too_old(h, v) false
#else
#define is_too_old(h, v) ((v) > opening_base[h] - 1 + OPENING_VERSIONS)
#endif
#define opening_is_taken(h) (opening_base[h] > 0 && row[NAME(h)] != FINISHED && !sealed && !is_overtaken(h) && \
                             !is_too_old(h, version + 1))
#define opening_is_dead(h) (sealed || is_overtaken(h) || is_too_old(h, version))
#define row_carries_nonce(h) (owner[NAME(h)] == h + 1)

/* It knows by now which incarnation is its own. */
inline has_opened(h) {
  had[h] = 1;
#ifdef DATA
  announced[h] = acked;
#else
  announced[h] = goal;
#endif
#ifdef MUTATION_ANNOUNCES_BEFORE_UPLOAD
  announced[h] = goal;
#endif
  drawn = 0
}

inline take_run(c, h) {
  whose[c] = h;
  first_item[c] = next_item(h);
  base_seq[c] = seq[NAME(h)];
  items[c] = 1;
  do :: first_item[c] + items[c] <= announced[h] -> items[c]++ :: break od;
  packings[c] = announced_packings[h];
#ifdef FORGETS
  finish[c] = (first_item[c] + items[c] - 1 == begins[h] + BATCHES_OF(h));
#endif
  printf("combiner %d takes what holder %d has announced up to seq %d\n", c, h, first_item[c] + items[c] - 1);
  freeze(c, ENTRIES)
}

inline take_opening(c, h) {
  whose[c] = h;
  base_seq[c] = seq[NAME(h)];
#ifdef MUTATION_RUNS_BESIDE_AN_OPENING
  if
  :: owner[NAME(h)] > 0 && owner[NAME(h)] != h + 1 && run_is_taken(owner[NAME(h)] - 1) ->
    beside[c] = owner[NAME(h)]; first_item[c] = base_seq[c] + 1; items[c] = 1
  :: true
  fi;
#endif
  printf("combiner %d takes the opening that holder %d has announced on version %d\n", c, h, opening_base[h] - 1);
  freeze(c, OPENING)
}

#define TAKES(h) \
  :: atomic { slot[c] == 0 && run_is_taken(h) -> take_run(c, h) } \
  :: atomic { slot[c] == 0 && opening_is_taken(h) -> take_opening(c, h) }

/* Covers I6. */
/* A committer of another process, of which there is here that it commits what others have announced. */
proctype Combiner(byte c) {
  bit won;
end:
  do
  TAKES(0)
#if HOLDERS > 1
  TAKES(1)
#endif
#if HOLDERS > 2
  TAKES(2)
#endif
#if HOLDERS > 3
  TAKES(3)
#endif
#if HOLDERS > 4
#error "more holders than a combiner knows"
#endif
  :: atomic {
      KNOWS(c) -> decide(c, won);
#ifdef MUTATION_LOSER_DELETES
      if
      :: !won && kind[c] == ENTRIES -> deleted[whose[c]] = first_item[c] + items[c] - 1
      :: !won && kind[c] == OPENING -> opening_deleted[whose[c]] = opening_base[whose[c]]
      :: else
      fi;
#endif
      won = 0; whose[c] = 0; packings[c] = 0;
#ifdef MUTATION_RUNS_BESIDE_AN_OPENING
      beside[c] = 0;
#endif
      clear(c)
    }
  DROPPED(c)
  CRASHES(c)
  od;
gone:
  skip
}

#ifdef DELETES
/* Whoever has won, or a reclaimer: by its version something is dead, and goes then or later. */
active proctype Deleter() {
  byte h;
end:
  do
  :: atomic {
      do :: h < HOLDERS - 1 -> h++ :: break od;
      if
      :: announced[h] > deleted[h] && opened[h] > 0 && run_is_dead(h) ->
        deleted[h] = announced[h];
        printf("what holder %d has announced up to seq %d is deleted\n", h, deleted[h])
#ifdef MUTATION_DEAD_BY_AN_OLDER_VERSION /* which does not know of the opening */
      :: announced[h] > deleted[h] && had[h] ->
        deleted[h] = announced[h];
        printf("what holder %d has announced up to seq %d is dead by version %d\n", h, deleted[h], opened[h] - 1)
#endif
      :: opening_base[h] > opening_deleted[h] && opening_is_dead(h) ->
        opening_deleted[h] = opening_base[h];
        printf("the opening that holder %d has announced is deleted\n", h)
      :: else
      fi;
      h = 0
    }
  od
}
#endif
#endif

/* Covers B2, B3. */
/* A holder of a producer's name. All begin at any time: a newer one may open while the older ones live, or sleep. */
proctype Holder(byte h) {
  byte mine, acked, uploaded, goal;
  bit won, tried;
#if COMBINERS > 0
  byte drawn;
#endif

opens:
  do
#if COMBINERS > 0
  :: atomic { /* Another has taken its opening. */
      slot[h] == 0 && row_carries_nonce(h) ->
      mine = incarnation[NAME(h)]; acked = seq[NAME(h)]; uploaded = acked; goal = acked + BATCHES_OF(h);
      has_opened(h);
      printf("holder %d finds that name %d is its own: incarnation %d after seq %d\n", h, NAME(h), mine, acked);
      break
    }
  :: atomic {
      slot[h] == 0 && my_turn_to_begin(h) && !row_carries_nonce(h) && !sealed && row[NAME(h)] != FINISHED &&
      drawn < DRAWS && opening_base[h] <= version ->
      begun[h] = 1;
      drawn++;
      opening_base[h] = version + 1;
      printf("holder %d announces its opening on version %d\n", h, version)
    }
#else
#define row_carries_nonce(h) false
#endif
  :: atomic {
      slot[h] == 0 && my_turn_to_begin(h) && !row_carries_nonce(h) ->
      begun[h] = 1;
#ifdef MUTATION_SEAL_CHECKED_ONCE
      if :: sealed && !tried -> leave(h); goto gone :: else fi;
      tried = 1;
#else
      if :: sealed -> leave(h); goto gone :: else fi;
#endif
      if :: row[NAME(h)] == FINISHED -> leave(h); goto gone :: else fi;
      base_seq[h] = seq[NAME(h)];
#ifdef MUTATION_SEQ_FROM_ENTRIES
      if :: first_step == next_step -> base_seq[h] = 0 :: else fi;
#endif
      freeze(h, OPENING)
    }
  :: atomic {
      KNOWS(h) ->
      decide(h, won);
      if
      :: won ->
        mine = opened[h]; acked = base_seq[h]; uploaded = acked; goal = acked + BATCHES_OF(h);
        clear(h); won = 0; tried = 0;
#if COMBINERS > 0
        has_opened(h);
#endif
        printf("holder %d has opened name %d: incarnation %d after seq %d\n", h, NAME(h), mine, acked);
        break
      :: else -> clear(h)
      fi
    }
  DROPPED(h)
  CRASHES(h)
  od;

  do
#ifdef DATA
  :: atomic {
      uploaded < goal -> upload(h, uploaded - (goal - BATCHES_OF(h)));
      uploaded++
    }
#endif
  :: atomic { /* Reads the newest version, checks everything, sends. */
      slot[h] == 0 && some_uploaded ->
      if
#ifdef MUTATION_ACKNOWLEDGED_BY_SEQ
      :: seq[NAME(h)] > acked -> acknowledge(h, acked + 1)
#endif
#if COMBINERS > 0 && defined(FORGETS)
      :: incarnation[NAME(h)] == mine && row[NAME(h)] == FINISHED && seq[NAME(h)] == goal -> acknowledge(h, goal)
      :: fenced(h) && !(incarnation[NAME(h)] == mine && row[NAME(h)] == FINISHED && seq[NAME(h)] == goal) ->
#else
      :: fenced(h) ->
#endif
        holds(owner[NAME(h)] != h + 1 || row[NAME(h)] != OPEN, "broken: B2, told fenced and is not\n");
        printf("holder %d is told that it is fenced\n", h);
#ifdef MUTATION_OPENS_AGAIN
        mine = 0; acked = 0; uploaded = 0; goal = 0;
        goto opens
#else
        leave(h);
        goto gone
#endif
      :: else ->
        if
        :: covered(h) -> acknowledge(h, seq[NAME(h)])
        :: sealed && precondition -> leave(h); goto gone
        :: else -> freeze_entries(h)
        fi
      fi;
      tried = 1
    }
  :: atomic {
      KNOWS(h) ->
      decide(h, won);
      if
      :: won -> acknowledge(h, first_item[h] + items[h] - 1); tried = 0
      :: else
      fi;
      won = 0;
      clear(h)
    }
#ifdef MUTATION_FENCED_BY_AN_OLDER_VERSION /* such as its process committed itself, before the name was opened */
  :: atomic {
      slot[h] == 0 && some_uploaded ->
      printf("holder %d is told by version %d that it is fenced\n", h, mine - 1);
      holds(owner[NAME(h)] != h + 1 || row[NAME(h)] != OPEN, "broken: B2, told fenced and is not\n");
      leave(h);
      goto gone
    }
#endif
#ifdef FINISHES
  :: atomic {
      slot[h] == 0 && some_uploaded && !fenced(h) && !covered(h) ->
      base_seq[h] = acked; first_item[h] = acked + 1; finish[h] = 1;
      printf("holder %d finishes before what it has announced\n", h);
      freeze(h, ENTRIES)
    }
#endif
#ifdef MUTATION_GONE_IS_ACKNOWLEDGED
  :: atomic { slot[h] == 0 && deleted[h] > acked -> acknowledge(h, deleted[h]) }
#endif
#ifdef MUTATION_PACKS_AGAIN
  :: atomic {
      slot[h] == 0 && uploaded > acked && packings[h] == announced_packings[h] ->
      j = uploaded - 1 - begins[h];
      packings[h] = packings[h] ^ (1 << j);
      k = KEY(h, j, (packings[h] >> j) & 1);
      object[k] = ((packings[h] >> j) & 1) + 1;
      printf("holder %d replaces its batch %d, which it has announced, by key %d\n", h, j, k);
      j = 0; k = 0
    }
#endif
#ifdef MUTATION_NEW_BODY
  :: atomic {
      slot[h] > 0 && found[h] == NOTHING && kind[h] == ENTRIES && !in_flight[STRAY] &&
      first_item[h] + items[h] <= goal ->
      leave_stray(h);
      items[h]++;
      printf("holder %d puts more batches into its attempt for slot %d\n", h, slot[h])
    }
#endif
  :: atomic { slot[h] == 0 && acked == goal && goal > 0 -> leave(h); break }
  DROPPED(h)
  CRASHES(h)
  od;
gone:
#ifdef TERMINATES
  begun[h] = 1 /* who died before it began holds nobody up */
#else
  skip
#endif
}

#if PACKINGS > 1
/* A second worker, or a first one that is late, writes other bytes of some batch of an open producer. */
#if COMBINERS > 0
#define hands_out_tickets(h) had[h]
#else
#define hands_out_tickets(h) (opened[h] > 0)
#endif
#define another(h, j, key) printf("a worker uploads its own packing of batch %d of holder %d as key %d\n", j, h, key)

active proctype Worker() {
  byte h;
end:
  do
  :: atomic {
      if
      :: h = 0
#if HOLDERS > 1
      :: h = 1
#endif
      fi;
      if :: j = 0 :: BATCHES > 1 -> j = 1 fi;
      if :: hands_out_tickets(h) && object[KEY(h, j, 0)] == 0 -> object[KEY(h, j, 0)] = 1; another(h, j, KEY(h, j, 0))
         :: hands_out_tickets(h) && object[KEY(h, j, 1)] == 0 -> object[KEY(h, j, 1)] = 2; another(h, j, KEY(h, j, 1))
         :: else
      fi;
      h = 0; j = 0
    }
  od
}
#endif

#if RUNS > 0
/* The watermark of the version that would follow, where run r's checkpoint has replaced what its group held. */
inline watermark(r, result) {
  result = from;
  for (g : 0 .. GROUPS - 1) {
    if
    :: g != r % GROUPS && start_held[g] && start[g] < result -> result = start[g]
    :: else
    fi;
    if :: g != r % GROUPS && checkpoint[g] < result -> result = checkpoint[g] :: else fi
  }
  g = 0;
#ifdef MUTATION_WATERMARK_OF_ONE_GROUP
  result = from;
#endif
  if :: result < first_step -> result = first_step :: else fi;
#ifdef MUTATION_TRIM_PAST_WATERMARK
  if :: result < next_step -> result++ :: else fi
#endif
}
inline end_run() { from = 0; mine = 0; left = 0; won = 0; tried = 0; chosen = 0 }

/* A run of a training job: opens a session where its model stands, then registers checkpoints, and trims with each. */
proctype Run(byte r) {
  byte from, mine, left = CHECKPOINTS;
  bit won, tried, chosen;

  atomic { /* It restores some checkpoint, as it was told at some time. */
    from = first_step;
    do :: from < next_step -> from++ :: break od
  }
  do
  :: atomic {
      slot[HOLDERS + r] == 0 ->
      if :: from < first_step && precondition -> end_run(); goto gone :: else fi; /* Trimmed */
      position[HOLDERS + r] = from;
      tried = 1;
      freeze(HOLDERS + r, SESSION)
    }
  :: atomic {
      KNOWS(HOLDERS + r) ->
      decide(HOLDERS + r, won);
      if :: won -> mine = slot[HOLDERS + r]; clear(HOLDERS + r); won = 0; tried = 0; break
         :: else -> clear(HOLDERS + r)
      fi
    }
  DROPPED(HOLDERS + r)
  CRASHES(HOLDERS + r)
  od;

  do
  :: atomic {
      left > 0 && slot[HOLDERS + r] == 0 ->
      if :: !chosen -> do :: from < next_step -> from++ :: break od; chosen = 1 :: else fi;
#ifndef MUTATION_SESSION_UNCHECKED
      if
      :: session[r % GROUPS] != mine && precondition ->
        printf("run %d is told that it is fenced\n", r);
        end_run();
        goto gone
      :: else
      fi;
#endif
      if :: from < first_step && precondition -> end_run(); goto gone :: else fi;
      position[HOLDERS + r] = from;
      watermark(r, trim_to[HOLDERS + r]);
      tried = 1;
      freeze(HOLDERS + r, CHECKPOINT);
      printf("run %d: checkpoint at %d, trims to %d\n", r, from, trim_to[HOLDERS + r])
    }
  :: atomic {
      KNOWS(HOLDERS + r) ->
      decide(HOLDERS + r, won);
      if :: won -> left--; tried = 0; chosen = 0 :: else fi;
      won = 0;
      clear(HOLDERS + r)
    }
  :: atomic { left == 0 && slot[HOLDERS + r] == 0 -> end_run(); break }
  DROPPED(HOLDERS + r)
  CRASHES(HOLDERS + r)
  od;
gone:
  skip
}

#endif

#if COMBINERS > 0 && !defined(MUTATION_ROW_GOES_TOO_SOON)
#define row_may_go (version + 1 > incarnation[0] + OPENING_VERSIONS)
#else
#define row_may_go true
#endif

#if defined(SEALS) || defined(FORGETS)
proctype Operator() {
  bit won;
  do
  :: atomic {
#ifdef SEALS
      slot[OPERATOR] == 0 -> freeze(OPERATOR, SEAL)
#else
      slot[OPERATOR] == 0 && row[0] == FINISHED && row_may_go -> freeze(OPERATOR, FORGET)
#endif
    }
  :: atomic {
      KNOWS(OPERATOR) -> decide(OPERATOR, won); clear(OPERATOR);
      if :: won -> won = 0; break :: else fi
    }
  DROPPED(OPERATOR)
  CRASHES(OPERATOR)
  od;
gone:
  skip
}
#endif

/* Covers M5. */
#ifdef MUTATION_OVERWRITE_REMOVES /* The server removes what it is to overwrite, and writes then. */
#define RETIRES \
  :: atomic { \
      open_slot == 0 && retired + 1 < version -> open_slot = retired + 1; \
      printf("version %d is being overwritten: its slot is open\n", open_slot) \
    } \
  :: atomic { open_slot > 0 -> retired++; open_slot = 0; printf("version %d is retired\n", retired) }
#else
#define RETIRES :: atomic { retired + 1 < version -> retired++; printf("version %d is retired\n", retired) }
#endif

#ifdef RECLAIMS
/* By the rules, and by the newest version: no version from this one on can reach the key. */
#ifdef MUTATION_UPLOADS_ARE_GARBAGE
#define dead(k, h) (!reached(k))
#else
#define dead(k, h) (!reached(k) && (opened[h] == 0 -> may_be_later : (incarnation[NAME(h)] != opened[h] || \
                    begins[h] + ((k) / PACKINGS) % BATCHES + 1 <= seq[NAME(h)] || row[NAME(h)] != OPEN || sealed)))
#endif
#ifdef MUTATION_UNDECIDED_ARCHIVES_ARE_DEAD
#define archive_dead(h) true
#else
#define archive_dead(h) (archived_for[h] <= version)
#endif
#ifdef MUTATION_LATER_OPENINGS_ARE_DEAD
#define may_be_later true /* a key of an incarnation past the version judged by: not the row's, hence dead */
#else
#define may_be_later false
#endif

inline doom(key) {
  printf("reclaimer: key %d is dead by version %d, and is deleted\n", key, version);
  doomed[key] = 1;
  holds(!reached(key), "broken: I8, an object is deleted that the newest version reaches\n")
}
active proctype Reclaimer() {
  byte key;
#ifdef MUTATION_READ_BEFORE_LIST
  bit judged;
end:
  do
  :: atomic {
      !judged -> do :: key < KEYS - 1 -> key++ :: break od;
      if :: dead(key, key / (BATCHES * PACKINGS)) ->
            judged = 1;
            printf("reclaimer: by version %d key %d is dead, if it is there\n", version, key)
         :: else -> key = 0
      fi
    }
  :: atomic { judged && object[key] > 0 -> doom(key); judged = 0; key = 0 }
  :: atomic { judged && object[key] == 0 -> judged = 0; key = 0 }
  od
#else
end:
  do
  :: atomic { /* LIST, read the newest version, judge. */
      do :: key < KEYS - 1 -> key++ :: break od;
      if :: object[key] > 0 && !doomed[key] && dead(key, key / (BATCHES * PACKINGS)) -> doom(key)
         :: else
      fi;
      key = 0
    }
#ifdef ARCHIVES
  :: atomic {
      do :: key < HOLDERS - 1 -> key++ :: break od;
      if :: archived_for[key] > 0 && !archive_doomed[key] && archive_dead(key) ->
            archive_doomed[key] = 1;
            printf("reclaimer: what holder %d archived for version %d is dead by version %d\n",
                   key, archived_for[key], version)
         :: else
      fi;
      key = 0
    }
#endif
#if defined(TOMBSTONES)
  RETIRES
#endif
  od
#endif
}

#endif

#if defined(TOMBSTONES) && !defined(RECLAIMS)
active proctype Reclaimer() {
end:
  do
  RETIRES
  od
}
#endif

init {
  byte i;
  atomic {
    for (i : 0 .. GROUPS - 1) { checkpoint[i] = NEVER; start_held[i] = 1 } /* each group was created at step 0 */
    for (i : 0 .. HOLDERS - 1) { run Holder(i) }
#if RUNS > 0
    for (i : 0 .. RUNS - 1) { run Run(i) }
#endif
#if COMBINERS > 0
    for (i : 0 .. COMBINERS - 1) { run Combiner(COMBINER(i)) }
#endif
#if OPERATORS > 0
    run Operator();
#endif
    i = 0
  }
}
