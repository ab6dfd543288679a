import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { OutOfBand, ProviderKind } from '../providers.ts'
import { Label } from './project.ts'

/**
 * What authenticates a provider's notifications. Sixteen characters at least (guides: R2.4), printable ASCII without
 * spaces, because a secret that was pasted with a newline would refuse every notification without saying why.
 */
export const InboundSecret = z
  .string()
  .min(16, 'Give at least 16 characters')
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces; a secret pasted with a line break has one')

const ApiBase = z
  .string()
  .max(2048)
  .describe(
    "Base URL of the provider's API, where it is not the public one; its host is the provider's own or an allowed one",
  )
const ReadKey = z
  .string()
  .min(8)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces')
  .describe("Read-only key for the provider's API")
const common = {
  name: Label,
  out_of_band: OutOfBand.default('auto'),
  read_key: ReadKey.optional(),
  api_base: ApiBase.optional(),
}

const Site = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/, "Give the site's name alone: acme, not acme.example.com")
  .describe("The provider's site; without it and a read key the connection only holds what arrives")

export const NewConnection = z.discriminatedUnion('kind', [
  z.strictObject({ ...common, kind: z.literal('processor'), signing_secret: InboundSecret.optional() }),
  z.strictObject({ ...common, kind: z.literal('reseller'), destination_secret: InboundSecret }),
  z.strictObject({
    ...common,
    kind: z.literal('subscription'),
    site: Site.optional(),
  }),
])
export type NewConnection = z.infer<typeof NewConnection>

/** What may change of a connection; what is left out stays. */
export const ConnectionPatch = z
  .strictObject({
    name: Label.optional(),
    out_of_band: OutOfBand.optional(),
    read_key: ReadKey.nullable().optional().describe("A new read-only key for the provider's API; null takes it away"),
    api_base: ApiBase.nullable().optional(),
    site: Site.optional().describe('Subscription only, and only while it has none: ids are unique within a site'),
  })
  .refine(patch => Object.keys(patch).length > 0, 'Name at least one field to change')
export type ConnectionPatch = z.infer<typeof ConnectionPatch>

/** How the provider's own data is read: at second looks, to verify hints, and by the sweep, which is what tells. */
export const ConnectionReading = z.object({
  state: z
    .enum(['off', 'pending', 'healthy', 'failing'])
    .describe('off: no read key, or its setup is not complete. pending: not read yet with this key'),
  last_run_at: Timestamp.nullable().describe('When the last sweep ended'),
  error: z.string().nullable().describe('Why the last sweep failed, in words a person can act on'),
  failing_since: Timestamp.nullable(),
  next_run_at: Timestamp.nullable().describe(
    'When the next sweep is due: after failures ever later, up to five minutes',
  ),
})
export type ConnectionReading = z.infer<typeof ConnectionReading>

export const Connection = z.object({
  connection_id: z.string(),
  project_id: z.string(),
  kind: ProviderKind,
  name: z.string(),
  out_of_band: OutOfBand,
  status: z.enum(['active', 'needs_setup', 'deleted']),
  inbound_url: z.string().describe('Where the provider posts its notifications'),
  site: z.string().nullable(),
  api_base: z.string().nullable(),
  has_read_key: z.boolean(),
  reading: ConnectionReading,
  secret_fingerprints: z.array(z.string()),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Connection = z.infer<typeof Connection>

/** The answer to making a connection: the only time that its secret is shown. */
export const CreatedConnection = Connection.extend({
  signing_secret: z.string().optional().describe('Processor: shown once'),
  username: z.string().optional().describe('Subscription: the fixed word service'),
  password: z.string().optional().describe('Subscription: shown once'),
})
export type CreatedConnection = z.infer<typeof CreatedConnection>

/** How long the secret of before stays good when nothing else is asked for, and at most (guides: R2.8), in seconds. */
const DEFAULT_OVERLAP_S = 86_400
const MAX_OVERLAP_S = 7 * 86_400

export const SecretRotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(MAX_OVERLAP_S)
    .default(DEFAULT_OVERLAP_S)
    .describe('How long the secrets of before stay good beside the new one'),
  destination_secret: InboundSecret.optional().describe('Reseller: the new secret of its notification destination'),
  signing_secret: InboundSecret.optional().describe('Processor: an own new secret; one is made without it'),
})
export type SecretRotation = z.infer<typeof SecretRotation>
