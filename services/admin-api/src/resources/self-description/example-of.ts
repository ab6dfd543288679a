/** Makes an example of a JSON Schema, so that every operation has one and none can be outdated. */

export type JsonSchema = Readonly<Record<string, unknown>>

/** Whether the example is sent by callers or answered. Callers see only the fields that they would usually send. */
export type ExampleUse = 'request' | 'answer'

const AT = '2026-11-21T10:00:00.000Z'

/** Values by the name of their field. A value that its schema does not allow is ignored. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  project_id: ['prj_01kahq3v7x9m2s5d8f0g4h6j1k'],
  connection_id: ['con_01kahq4b2c5e8g1j4m7p0r3t6v'],
  connection_ids: [['con_01kahq4b2c5e8g1j4m7p0r3t6v']],
  channel_id: ['chn_01kahq5d6f9h2k5n8q1s4v7x0z'],
  operation_id: ['op_01kahq6e8g1j4m7p0r3t6v9x2z'],
  action_id: ['act_01kahq7f0h3k6n9q2s5v8x1z4b'],
  action_ids: [['act_01kahq7f0h3k6n9q2s5v8x1z4b']],
  incident_id: ['inc_01kahq8g2j5m8p1r4t7v0x3z6c'],
  delivery_id: ['dlv_01kahq9h4k7n0q3s6v9x2z5c8e'],
  alert_id: ['alr_01kahqaj6m9p2r5t8v1x4z7c0e'],
  replay_id: ['rpl_01kahqbk8n1q4s7v0x3z6c9e2g'],
  budget_id: ['bud_01kahqcm0p3r6t9v2x5z8c1e4g'],
  erasure_id: ['era_01kahqdz5t8v1x4z7c0e3g6j9m'],
  archive_id: ['arc_01kahqdz5t8v1x4z7c0e3g6j9m'],
  month: ['2024-01'],
  silence_id: ['sil_01kahqdn2q5s8v1x4z7c0e3g6j'],
  expected_change_id: ['exp_01kahqep4r7t0v3x6z9c2e5g8j'],
  key_id: ['key_01kahqfq6s9v2x5z8c1e4g7j0m'],
  created_by: ['key_01kahqfq6s9v2x5z8c1e4g7j0m'],
  audit_id: ['aud_01kahqgr8t1w4y7b0d3f6h9k2m'],
  request_id: ['req_01kahqhs0v3x6z9c2e5g8j1m4p'],
  subject: ['pi_3QK5vLAbCdEfGhIj0aBcDeFg'],
  provider_ref: ['re_3QK5vLAbCdEfGhIj0aBcDeFg'],
  event_id: ['evt_1QK5vLAbCdEfGhIj0aBcDeFg'],
  event_type: ['refund.created'],
  idempotency_key: ['refund-order-4711'],
  run_id: ['nightly-refunds-2026-11-21'],
  name: ['Shop Germany'],
  note: ['Goodwill after the outage, ticket 4711'],
  reason: ['The customer returned the order'],
  amount: [124_990],
  cap: [500_000],
  currency: ['eur'],
  address: ['ops@example.com', '203.0.113.7'],
  email: ['ann@example.com'],
  to: [['ops@example.com'], AT, '08:00'],
  from: ['2026-11-20T10:00:00.000Z', '18:00'],
  url: ['https://hooks.example.com/backstop'],
  webhook_url: ['https://hooks.slack.com/services/T0000/B0000/XXXX'],
  inbound_url: ['https://in.example.com/v1/webhooks/processor/con_01kahq4b2c5e8g1j4m7p0r3t6v'],
  hint: ['bsk_3v8q'],
  key: ['bsk_0123456789abcdefghijklmnopqrstuvwxyz'],
  signing_secret: ['whsec_0123456789abcdefghijklmnopqrstuv'],
  secret: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
  secret_fingerprints: [['3f9a1c7e']],
  next_cursor: [null],
  site: ['acme'],
  out_of_band: ['auto'],
  duration_seconds: [3_600],
  approval_deadline_seconds: [86_400],
  expires_in_days: [90],
  ends_at: ['2026-11-21T11:00:00.000Z'],
  time_zone: ['Europe/Berlin'],
  accent_colour: ['#0a7cff'],
  prefix: ['billing-'],
  logo_url: ['https://cdn.example.com/logo.png'],
}

/** Optional fields that an example of a request shows, because most callers send them. */
const USUALLY_SENT = new Set([
  'name',
  'reason',
  'amount',
  'currency',
  'idempotency_key',
  'state',
  'duration_seconds',
  'overlap_hours',
  'text',
  'email',
  'cap',
])

/** @param schemas the named schemas, for references */
export function exampleOf(schema: JsonSchema, use: ExampleUse, schemas: Readonly<Record<string, JsonSchema>>): unknown {
  return makeExample(schema, undefined, { use, schemas, within: new Set() })
}

interface Context {
  readonly use: ExampleUse
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The references that the example is inside of, so that a recursive schema ends. */
  readonly within: ReadonlySet<string>
}

function makeExample(schema: JsonSchema, field: string | undefined, context: Context): unknown {
  const { $ref: reference } = schema
  if (typeof reference === 'string') {
    const name = reference.slice(reference.lastIndexOf('/') + 1)
    const within = new Set([...context.within, name])
    if (context.within.has(name)) return null
    return makeExample(context.schemas[name] ?? {}, field, { ...context, within })
  }
  const known = (field === undefined ? [] : (VALUES[field] ?? [])).find(value => isAllowed(schema, value))
  if (known !== undefined) return known
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (choices !== undefined) {
    return makeExample(choices.find(({ type }) => type !== 'null') ?? choices[0] ?? {}, field, context)
  }
  switch (typeOf(schema)) {
    case 'object':
      return makeObject(schema, context)
    case 'array':
      return [makeExample((schema.items ?? {}) as JsonSchema, singularOf(field), context)]
    case 'string':
      return makeText(schema, field)
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema.minimum ?? 1))
    case 'boolean':
      return true
    default:
      return null
  }
}

function makeObject(schema: JsonSchema, context: Context): Record<string, unknown> {
  const required = (schema.required ?? []) as readonly string[]
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const shown = properties.filter(
    ([field]) => context.use === 'answer' || required.includes(field) || USUALLY_SENT.has(field),
  )
  return Object.fromEntries(shown.map(([field, inner]) => [field, makeExample(inner, field, context)]))
}

function makeText({ format, pattern }: JsonSchema, field: string | undefined): string {
  if (format === 'date-time') return AT
  if (format === 'date') return AT.slice(0, 10)
  if (format === 'email') return 'ops@example.com'
  if (format === 'uri') return 'https://example.com'
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test('text')) return 'eur'
  return (field ?? 'text').replaceAll('_', ' ').padEnd(8, '…')
}

/** Checks only what tells values of one field name apart: the type, the listed values, the format and the pattern. */
function isAllowed(schema: JsonSchema, value: unknown): boolean {
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (choices !== undefined) return choices.some(choice => isAllowed(choice, value))
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  const { type, format, pattern, items } = schema
  const isOfType =
    value === null
      ? type === 'null'
      : Array.isArray(value)
        ? type === 'array' && isAllowed((items ?? {}) as JsonSchema, value[0])
        : typeof value === 'number'
          ? type === 'integer' || type === 'number'
          : type === typeof value
  if (!isOfType || typeof value !== 'string') return isOfType
  if (format === 'date-time') return !Number.isNaN(Date.parse(value)) && value.includes('T')
  if (format === 'email') return value.includes('@')
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value)
}

function typeOf({ type, properties }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.find(one => one !== 'null')
  return type ?? (properties === undefined ? undefined : 'object')
}

function singularOf(field: string | undefined): string | undefined {
  return field?.replace(/s$/, '')
}
