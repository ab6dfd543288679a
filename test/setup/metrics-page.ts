/** Reads docs/metrics.md, in which a row may have several metrics of one type. */
import { readFileSync } from 'node:fs'
import type { ServiceName } from '../../scripts/start/service-environment.ts'

export interface DocumentedMetric {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly services: readonly ServiceName[]
}

const ALL = ['ingress', 'reconciler', 'notifier', 'admin-api'] as const satisfies readonly ServiceName[]
/** The services that show the metrics below each heading of the page. */
const SERVICES: Readonly<Record<string, readonly ServiceName[]>> = {
  'Every service': ALL,
  'Kafka clients': ALL,
  'MongoDB client': ALL,
  'Services that consume': ['reconciler', 'notifier'],
  'Services that call other hosts': ['reconciler', 'notifier', 'admin-api'],
  'Services with clients': ['ingress', 'admin-api'],
  Ingress: ['ingress'],
  Reconciler: ['reconciler'],
  Notifier: ['notifier'],
  'Admin-api': ['admin-api'],
  'The process': ALL,
}

export function readMetricsPage(): DocumentedMetric[] {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
  return page.split(/^##+ /m).flatMap(section => {
    const heading = section.split('\n')[0] ?? ''
    const rows = [...section.matchAll(/^\| ((?:`[a-z_0-9]+`(?:, )?)+) \| (\w+) \| ([\w, ]*) ?\|/gm)]
    const services = SERVICES[heading]
    if (rows.length > 0 && services === undefined)
      throw new Error(`docs/metrics.md: whose metrics are below "${heading}"?`)
    return rows.flatMap(([, names = '', type = '', labels = '']) =>
      names.split(', ').map(name => ({
        name: name.replaceAll('`', ''),
        type,
        labels: labels.split(',').flatMap(label => label.trim() || []),
        services: services ?? [],
      })),
    )
  })
}
