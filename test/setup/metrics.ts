/** Reads the metrics of a service from the Prometheus text format. */

interface MetricFamily {
  readonly type: string
  /** The labels of its samples without `service` and `le`; empty if it has no sample. */
  readonly labels: ReadonlySet<string>
}

export interface Scrape {
  readonly families: ReadonlyMap<string, MetricFamily>
  /** The value of the sample with these labels among others; undefined if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export async function scrape(opsUrl: string): Promise<Scrape> {
  const response = await fetch(`${opsUrl}/metrics`)
  const text = await response.text()
  if (!response.ok) throw new Error(`${opsUrl}/metrics answered ${response.status}: ${text}`)
  return readMetrics(text)
}

/** Milliseconds of processor time that the process of a service has used so far. */
export async function cpuMsOf(opsUrl: string): Promise<number> {
  return ((await scrape(opsUrl)).value('process_cpu_seconds_total') ?? Number.NaN) * 1_000
}

function readMetrics(text: string): Scrape {
  const lines = text.split('\n')
  const samples = lines.flatMap(line => readSample(line) ?? [])
  const types = lines.flatMap(line => {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    return name === undefined || type === undefined ? [] : [[name, type] as const]
  })
  const labelsOf = (name: string, type: string) => {
    const names = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
    const used = samples.filter(sample => names.includes(sample.name)).flatMap(({ labels }) => Object.keys(labels))
    return new Set(used.filter(label => label !== 'service' && label !== 'le'))
  }
  return {
    families: new Map(types.map(([name, type]) => [name, { type, labels: labelsOf(name, type) }])),
    value(name, labels = {}) {
      const isAsked = (sample: Sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
      return samples.find(isAsked)?.value
    },
  }
}

function readSample(line: string): Sample | undefined {
  const [, name, labels = '', value] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (name === undefined) return undefined
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text])
  return { name, labels: Object.fromEntries(pairs), value: Number(value) }
}
