/** Judges the samples of a long run: does the memory of a process grow, and does it show more and more series of metrics? */

export interface Sample {
  /** Time since the start of the load. */
  readonly atMs: number
  /** Heap and buffers after a full garbage collection. */
  readonly usedBytes: number
  readonly residentBytes: number
  /** Name and labels of every series of /metrics. */
  readonly series: ReadonlySet<string>
}

export interface Growth {
  readonly usedBytesPer10Min: number
  readonly residentBytesPer10Min: number
  /** The series of any judged sample that no sample of the warm-up has. */
  readonly newSeries: readonly string[]
}

const TEN_MINUTES_MS = 600_000

/**
 * @param samples those after the warm-up
 * @throws RangeError if there are fewer than two
 */
export function growthOf(warmUp: readonly Sample[], samples: readonly Sample[]): Growth {
  if (samples.length < 2) throw new RangeError('Growth needs two samples')
  const known = new Set(warmUp.flatMap(({ series }) => [...series]))
  return {
    usedBytesPer10Min: slopeOf(samples.map(({ atMs, usedBytes }) => [atMs, usedBytes])) * TEN_MINUTES_MS,
    residentBytesPer10Min: slopeOf(samples.map(({ atMs, residentBytes }) => [atMs, residentBytes])) * TEN_MINUTES_MS,
    newSeries: [...new Set(samples.flatMap(({ series }) => [...series]))].filter(one => !known.has(one)).sort(),
  }
}

/** The slope of the line with the least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}

/** The series of a page in the Prometheus text format: each line without its value. */
export function seriesOf(metrics: string): ReadonlySet<string> {
  const lines = metrics.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Set(lines.map(line => line.replace(/ \S+$/, '')))
}
