/**
 * Accidents that must happen in some of a thousand runs. Without this list the simulator could go soft unnoticed: a changed name or a fault
 * that no longer fires would leave every run right.
 */
export const SOMETIMES = [
  'a leader moved',
  'a process froze',
  'a process was killed before a command',
  'a process was killed after its command was carried out',
  'a rebalance',
  'a rebalance with a commit in flight',
  'an answer of a server was lost',
  'an election',
  'an election lost a write',
  'the oplog was too short',
] as const

/** The accidents of the list that never happened. @param counts how often each accident happened, over all runs */
export function missing(counts: Readonly<Record<string, number>>): string[] {
  return SOMETIMES.filter(name => !counts[name])
}
