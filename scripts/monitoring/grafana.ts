/** Turns the description of a dashboard into Grafana's JSON model. */

/** A unit of Grafana, for example `s` (seconds), `short`, `reqps`, `percentunit`. */
type Unit = 's' | 'short' | 'reqps' | 'ops' | 'percentunit' | 'bytes'

export interface Panel {
  readonly title: string
  /** For the reader: what a bad value means. */
  readonly description?: string
  /** A number now, or a graph over time. */
  readonly kind: 'now' | 'graph'
  readonly unit: Unit
  /** The value from which on a number is red. */
  readonly redFrom?: number
  readonly queries: readonly Query[]
}

interface Query {
  readonly expr: string
  /** For example `{{service}}`. */
  readonly legend: string
}

export interface Dashboard {
  /** Also the name of the file. */
  readonly uid: string
  readonly title: string
  readonly rows: readonly (readonly Panel[])[]
}

/** Grafana's grid has 24 columns. */
const COLUMNS = 24
const HEIGHTS = { now: 4, graph: 8 } as const

/** The JSON of a dashboard, with one line for each panel, so that a diff shows the changed panel. */
export function dashboardText(dashboard: Dashboard): string {
  const { panels, ...settings } = dashboardJson(dashboard)
  const head = JSON.stringify(settings).slice(0, -1)
  return `${head},"panels":[\n${panels.map(panel => JSON.stringify(panel)).join(',\n')}\n]}\n`
}

function dashboardJson({ uid, title, rows }: Dashboard) {
  let y = 0
  let id = 0
  const panels = rows.flatMap(row => {
    const height = Math.max(...row.map(({ kind }) => HEIGHTS[kind]))
    const width = Math.floor(COLUMNS / row.length)
    const placed = row.map((panel, column) => {
      id += 1
      return panelJson(panel, id, { x: column * width, y, w: width, h: height })
    })
    y += height
    return placed
  })
  return {
    uid,
    title,
    tags: ['backstop'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    links: [{ title: 'Backstop', type: 'dashboards', tags: ['backstop'], asDropdown: true }],
    panels,
  }
}

function panelJson(panel: Panel, id: number, gridPos: object): object {
  const { title, description = '', kind, unit, redFrom, queries } = panel
  const green = { color: 'green', value: null }
  const steps = redFrom === undefined ? [green] : [green, { color: 'red', value: redFrom }]
  return {
    id,
    title,
    description,
    type: kind === 'now' ? 'stat' : 'timeseries',
    gridPos,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
    datasource: { type: 'prometheus', uid: '${datasource}' },
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: 'absolute', steps } }, overrides: [] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      expr,
      legendFormat: legend,
    })),
  }
}
