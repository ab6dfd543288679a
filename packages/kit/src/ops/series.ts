/**
 * Counters and histograms that find a series by one label value after the other. Those of prom-client make a text of all names and
 * values for each call, and search it among all keys, which took a tenth of the time of a refusal by ingress. prom-client holds the
 * gauges and writes the text of all metrics.
 */

/** A value for each label of a metric. */
export type Labels<L extends string> = Readonly<Record<L, string>>

export interface MetricOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly L[]
}

/** What prom-client's registry reads of a metric. */
export interface MetricValues {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  readonly values: readonly {
    readonly metricName?: string
    readonly labels: Readonly<Record<string, string | number>>
    readonly sharedLabels?: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

/** One step towards a series: the series for which label values are the same so far. */
class Level<S> {
  series: S | undefined
  readonly #next = new Map<string, Level<S>>()

  next(value: string): Level<S> {
    let level = this.#next.get(value)
    if (level === undefined) {
      level = new Level()
      this.#next.set(value, level)
    }
    return level
  }
}

/** The series of one metric. */
class SeriesByLabels<L extends string, S> {
  readonly all: { readonly labels: Labels<L>; readonly series: S }[] = []
  readonly #names: readonly L[]
  readonly #create: () => S
  readonly #root = new Level<S>()

  constructor(names: readonly L[], create: () => S) {
    this.#names = names
    this.#create = create
    // A metric without labels has its series from the start, so that it is 0 and not absent.
    if (names.length === 0) this.of({} as Labels<L>)
  }

  of(labels: Labels<L>): S {
    let level = this.#root
    for (const name of this.#names) level = level.next(labels[name])
    level.series ??= this.#add(labels)
    return level.series
  }

  #add(given: Labels<L>): S {
    const series = this.#create()
    // A copy of the metric's own labels, because the caller may change its object, and the type allows it more properties.
    const labels = Object.fromEntries(this.#names.map(name => [name, given[name]])) as Labels<L>
    this.all.push({ labels, series })
    return series
  }
}

export class Counter<L extends string> {
  readonly name: string
  readonly #help: string
  readonly #series: SeriesByLabels<L, { value: number }>

  constructor({ name, help, labelNames }: MetricOptions<L>) {
    this.name = name
    this.#help = help
    this.#series = new SeriesByLabels(labelNames, () => ({ value: 0 }))
  }

  /** @param by 0 shows a series that has counted nothing yet */
  inc(labels = {} as Labels<L>, by = 1): void {
    this.#series.of(labels).value += by
  }

  get(): MetricValues {
    const values = this.#series.all.map(({ labels, series: { value } }) => ({ labels, value }))
    return { name: this.name, help: this.#help, type: 'counter', values }
  }
}

/** The observations of one series. */
interface Observed {
  /** Number of values in each bucket, and not in smaller ones. The last one has those above all bounds. */
  readonly counts: number[]
  sum: number
}

export class Histogram<L extends string> {
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series: SeriesByLabels<L, Observed>

  /** @param bounds upper bounds of the buckets, ascending */
  constructor({ name, help, labelNames }: MetricOptions<L>, bounds: readonly number[]) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
    this.#series = new SeriesByLabels(labelNames, () => ({ counts: Array(bounds.length + 1).fill(0), sum: 0 }))
  }

  observe(labels: Labels<L>, value: number): void {
    const observed = this.#series.of(labels)
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket += 1
    observed.counts[bucket]! += 1
    observed.sum += value
  }

  /** Shows a series that has observed nothing yet. */
  zero(labels: Labels<L>): void {
    this.#series.of(labels)
  }

  get(): MetricValues {
    const values = this.#series.all.flatMap(({ labels: sharedLabels, series: { counts, sum } }) => {
      let count = 0
      const buckets = counts.map((inBucket, index) => {
        count += inBucket
        const le = this.#bounds[index] ?? '+Inf'
        return { metricName: `${this.name}_bucket`, labels: { le }, sharedLabels, value: count }
      })
      const of = { labels: {}, sharedLabels }
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, ...of, value: sum },
        { metricName: `${this.name}_count`, ...of, value: count },
      ]
    })
    return { name: this.name, help: this.#help, type: 'histogram', values }
  }
}
