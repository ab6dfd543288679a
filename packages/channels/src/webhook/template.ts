import { type Alert, WEBHOOK_EVENTS, webhookSchema } from '@backstop/contracts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { webhookDocument } from './message.ts'

/** Limits of a template. With them, a body is not much longer than the alert and the template together. */
export const TEMPLATE_LIMITS = { characters: 16_384, placeholders: 100 } as const

/** A piece of a template: JSON text, or a placeholder inside or outside of a JSON string. */
type Piece =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'placeholder'; readonly path: string; readonly isInString: boolean }

/** Creates the body of a request from a template that `findTemplateFault` accepted. */
export function renderTemplate(template: string, alert: Alert): string {
  // In UTC: every attempt has the same bytes, also if the time zone of the project has changed.
  const { title, summary } = describeAlert(alert, { timeZone: 'UTC', nowMs: Date.parse(alert.created_at) })
  const { data, ...document } = webhookDocument(alert)
  const values = { ...data, ...document, data, title, summary }
  return render(piecesOf(template), path => valueAt(values, path))
}

/** Returns the fault of a template, with the correction; undefined if every alert makes it a JSON document. */
export function findTemplateFault(template: string): string | undefined {
  const pieces = piecesOf(template)
  const paths = pieces.flatMap(piece => (piece.kind === 'placeholder' ? [piece.path] : []))
  if (pieces.some(piece => piece.kind === 'json' && piece.text.includes('{{'))) {
    return 'Close each placeholder with }}, and put nothing but the name of a field between the braces: {{incident.summary}}'
  }
  const unknown = [...new Set(paths.filter(path => !knownPaths().has(path)))]
  if (unknown.length > 0) {
    const names = unknown.slice(0, 10).map(path => `{{${path}}}`)
    return `No alert has a field for ${names.join(', ')}; use {{title}}, {{summary}}, {{data}}, or a field with one value such as {{incident.summary}}`
  }
  if (paths.length > TEMPLATE_LIMITS.placeholders) return `Use at most ${TEMPLATE_LIMITS.placeholders} placeholders`
  if (paths.filter(path => path === 'data').length > 1) return 'Use {{data}} at most once'
  // Neither value completes an escape such as \n, so a template that is JSON with both is JSON with any values.
  for (const value of [null, 'x']) {
    const fault = findJsonFault(render(pieces, () => value))
    if (fault !== undefined) return `Write a JSON document; a placeholder outside of quotes is a whole value${fault}`
  }
  for (const [event, sample] of Object.entries(SAMPLE_ALERTS)) {
    const fault = findJsonFault(renderTemplate(template, sample()))
    if (fault !== undefined) return `Write a JSON document; with the values of ${event} it is none${fault}`
  }
  return undefined
}

function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let isInString = false
  let end = 0
  for (const match of template.matchAll(/\{\{\s*([\w.]+)\s*\}\}/g)) {
    const text = template.slice(end, match.index)
    if (hasOddQuotes(text)) isInString = !isInString
    pieces.push({ kind: 'json', text }, { kind: 'placeholder', path: match[1] as string, isInString })
    end = match.index + match[0].length
  }
  return [...pieces, { kind: 'json', text: template.slice(end) }]
}

/** True if the text opens or closes a JSON string without its other end. */
function hasOddQuotes(text: string): boolean {
  return text.replace(/\\./gs, '').split('"').length % 2 === 0
}

function render(pieces: readonly Piece[], valueFor: (path: string) => unknown): string {
  return pieces.map(piece => (piece.kind === 'json' ? piece.text : jsonOf(piece, valueFor(piece.path)))).join('')
}

/** In a string, a value is escaped text, and a missing value is empty. Elsewhere it is a JSON value or null. */
function jsonOf({ isInString }: Extract<Piece, { kind: 'placeholder' }>, value: unknown): string {
  if (!isInString) return JSON.stringify(value ?? null)
  const text = typeof value === 'object' ? (value === null ? '' : JSON.stringify(value)) : String(value ?? '')
  return JSON.stringify(text).slice(1, -1)
}

function valueAt(values: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      values,
    )
}

/** Returns the position of the fault as ` (line 1 column 2)`, which may be empty; undefined for valid JSON. */
function findJsonFault(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const position = /line \d+ column \d+/.exec(String(error))?.[0]
    return position === undefined ? '' : ` (${position})`
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly $ref?: string
}

let known: ReadonlySet<string> | undefined

/** The fields with one value of all webhook documents. Fields of `data` have no prefix. */
function knownPaths(): ReadonlySet<string> {
  known ??= new Set([
    'title',
    'summary',
    'data',
    ...WEBHOOK_EVENTS.flatMap(event => {
      const { properties = {}, $defs = {} } = webhookSchema(event) as Schema & { $defs?: Record<string, Schema> }
      const { data = {}, ...document } = properties
      return [...valuePaths({ properties: document }, $defs), ...valuePaths(data, $defs)]
    }),
  ])
  return known
}

function valuePaths(
  schema: Schema,
  definitions: Readonly<Record<string, Schema>>,
  path: readonly string[] = [],
): string[] {
  const resolved = definitions[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  const forms = [...(resolved.anyOf ?? []), ...(resolved.oneOf ?? [])]
  if (forms.length > 0) return forms.flatMap(form => valuePaths(form, definitions, path))
  if (resolved.properties !== undefined) {
    return Object.entries(resolved.properties).flatMap(([name, part]) => valuePaths(part, definitions, [...path, name]))
  }
  const types: readonly string[] = typeof resolved.type === 'string' ? [resolved.type] : (resolved.type ?? [])
  const isValue = !types.includes('array') && !types.includes('object') && !types.every(type => type === 'null')
  const hasConstant = 'const' in resolved || 'enum' in resolved
  return path.length > 0 && (isValue || hasConstant) ? [path.join('.')] : []
}
