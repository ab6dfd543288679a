import type { Comparison, Target, Unit } from './benchmark.ts'
import { median } from './statistics.ts'

/** A comparison with its results. */
export interface Compared {
  readonly name: string
  readonly readings: readonly ComparedReading[]
  readonly targets: readonly JudgedTarget[]
}

export interface ComparedReading {
  readonly name: string
  readonly unit: Unit
  readonly contenders: readonly { readonly name: string; readonly values: readonly number[]; readonly median: number }[]
}

export interface JudgedTarget extends Target {
  readonly unit: Unit
  /** The measured median. */
  readonly reached: number
  readonly isMet: boolean
}

/** The readings of one contender, one row per round. */
type Rows = ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>

/** Measures every contender once per round. @param onRound called before each measurement, to show progress */
export async function runComparison(
  comparison: Comparison,
  rounds: number,
  onRound: (round: number, contender: string) => void,
): Promise<Compared> {
  const { name, contenders, readings, targets } = comparison
  const rows = new Map(contenders.map(one => [one.name, [] as Readonly<Record<string, number>>[]]))
  for (let round = 1; round <= rounds; round++) {
    const order = round % 2 === 1 ? contenders : [...contenders].reverse()
    for (const contender of order) {
      onRound(round, contender.name)
      rows.get(contender.name)?.push(await contender.measure())
    }
  }
  return {
    name,
    readings: Object.entries(readings).map(([reading, unit]) => ({
      name: reading,
      unit,
      contenders: contenders.map(({ name }) => {
        const values = valuesOf(rows, name, reading)
        return { name, values, median: median(values) }
      }),
    })),
    targets: targets.map(target => ({
      ...target,
      unit: readings[target.reading] as Unit,
      ...judgeTarget(target, rows),
    })),
  }
}

function judgeTarget({ reading, of, against, is, value }: Target, rows: Rows): Pick<JudgedTarget, 'reached' | 'isMet'> {
  const own = valuesOf(rows, of, reading)
  const reference = against === undefined ? undefined : valuesOf(rows, against, reading)
  const reached = median(reference === undefined ? own : own.map((value, round) => value / reference[round]!))
  return { reached, isMet: is === 'at least' ? reached >= value : reached <= value }
}

function valuesOf(rows: Rows, contender: string, reading: string): number[] {
  return (rows.get(contender) ?? []).map(row => {
    const value = row[reading]
    if (value === undefined) throw new Error(`${contender} was not read off "${reading}"`)
    return value
  })
}
