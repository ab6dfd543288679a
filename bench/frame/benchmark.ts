import type { ProgressSink, StackUrls } from '@backstop/stack'

/** One subject of `npm run bench -- <name>`. */
export interface Benchmark {
  readonly name: string
  /** What it measures, in one line. */
  readonly about: string
  /** Makes ready what its comparisons need. */
  open(surroundings: BenchSurroundings): Promise<OpenBenchmark>
}

export interface BenchSurroundings {
  readonly stack: StackUrls
  /** For logs and whatever else a run leaves; kept when something fails. */
  readonly folder: string
  readonly log: ProgressSink
}

export interface OpenBenchmark {
  readonly comparisons: readonly Comparison[]
  stop(): Promise<void>
}

/**
 * Things measured side by side: each once a round, in an order that turns round with every round, so that what the
 * machine does meanwhile hits all of them alike. What counts is the median of the rounds' ratios.
 */
export interface Comparison {
  readonly name: string
  /** It takes long: it is made only when --only names it. */
  readonly onRequest?: boolean
  /** What each contender is read off, with its unit. */
  readonly readings: Readonly<Record<string, Unit>>
  readonly contenders: readonly Contender[]
  readonly targets: readonly Target[]
}

export type Unit = '/s' | 'ms' | 'µs' | 'MB'

export interface Contender {
  readonly name: string
  /** Measures once. @returns a number for every reading of the comparison */
  measure(): Promise<Readonly<Record<string, number>>>
}

/** What has to be reached: by the median of one contender, or by the median of its ratios to another one. */
export interface Target {
  readonly reading: string
  readonly of: string
  /** The reference that `of` is divided by, round by round; none for a target in the reading's own unit. */
  readonly against?: string
  readonly is: 'at least' | 'at most'
  readonly value: number
}
