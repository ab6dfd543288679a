import type { ProgressSink, RunningStack, StackUrls } from '@backstop/stack'

/** One benchmark of `npm run bench -- <name>`. */
export interface Benchmark {
  readonly name: string
  /** The measured quantity, in one line. */
  readonly about: string
  /** Prepares the resources of its comparisons. */
  open(surroundings: BenchSurroundings): Promise<PreparedBenchmark>
}

export interface BenchSurroundings {
  readonly stack: StackUrls
  /** The parts of the stack, for a benchmark that stops them. */
  readonly parts: RunningStack['parts']
  /** Folder for the logs and other files of a run; kept if the run fails. */
  readonly folder: string
  readonly log: ProgressSink
  /** Events per second of `--rate`, for a benchmark with an even load; its own by default. */
  readonly rate?: number
  /** The numbers of stored refunds of `--stored`, for growth; its own by default. */
  readonly stored?: readonly number[]
  /** True to leave stored documents in a MongoDB given by MONGO_URL, for the next run. */
  readonly isKept: boolean
}

interface PreparedBenchmark {
  readonly comparisons: readonly Comparison[]
  stop(): Promise<void>
}

/**
 * Contenders that are measured side by side: each once per round, in an order that reverses with every round, so that
 * other work of the machine affects all of them equally. The result is the median of the rounds' ratios.
 */
export interface Comparison {
  readonly name: string
  /** True for a long comparison, which runs only if --only names it. */
  readonly onRequest?: boolean
  /** The readings of each contender, with their units. */
  readonly readings: Readonly<Record<string, Unit>>
  readonly contenders: readonly Contender[]
  readonly targets: readonly Target[]
}

export type Unit = '/s' | 'ms' | 'µs' | 'MB' | 'KB' | 'bytes' | 'requests' | 'events' | 'alerts' | 's' | 'min'

export interface Contender {
  readonly name: string
  /** Measures once. @returns a number for every reading of the comparison */
  measure(): Promise<Readonly<Record<string, number>>>
}

/** A target for the median of one contender, or for the median of its ratios to another contender. */
export interface Target {
  readonly reading: string
  readonly of: string
  /**
   * The contender by which the readings of `of` are divided, round by round; undefined for a target in the reading's
   * own unit.
   */
  readonly against?: string
  readonly is: 'at least' | 'at most'
  readonly value: number
}
