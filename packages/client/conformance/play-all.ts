import type { ConformanceCase } from './case.ts'
import { type CaseOutcome, Player } from './play.ts'

interface PlayOptions {
  /** Called after each case. */
  readonly onOutcome?: (outcome: CaseOutcome) => void
  /** How often a case is played that was only too late. The default is 3: the machine may be busy. */
  readonly attempts?: number
  /** The environment of the driver. */
  readonly env?: NodeJS.ProcessEnv
}

/** Plays cases with the driver that a command starts. */
export async function playAll(
  cases: readonly ConformanceCase[],
  command: readonly string[],
  { onOutcome = () => {}, attempts = 3, env = process.env }: PlayOptions = {},
): Promise<CaseOutcome[]> {
  const player = await Player.open(command, env)
  const outcomes: CaseOutcome[] = []
  try {
    for (const theCase of cases) {
      let outcome = await player.play(theCase)
      for (let again = 1; outcome.isLate === true && again < attempts; again++) outcome = await player.play(theCase)
      outcomes.push(outcome)
      onOutcome(outcome)
    }
  } finally {
    await player.close()
  }
  return outcomes
}
