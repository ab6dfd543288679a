import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { ResolveReason } from '../actions/life-cycle.ts'
import { Currency, Timestamp } from '../actions/operation.ts'
import { StormBurst } from '../actions/storm.ts'
import { Action, Incident, IncidentCode, IncidentState, TimelineEntry } from '../actions/verdict.ts'
import { ProviderKind } from '../providers.ts'
import { SearchText } from './action.ts'
import { AlertDelivery } from './delivery.ts'
import { AccountFilter, BooleanFilter, CustomerFilter, IdFilter, ListQuery, TimeFilter } from './list.ts'
import { SilenceSummary } from './silence.ts'

/** The query of GET /v1/incidents. */
export const IncidentQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  connection_id: IdFilter.optional(),
  account: AccountFilter,
  state: IncidentState.optional(),
  code: IncidentCode.optional(),
  storm_id: IdFilter.optional().describe('Only incidents of this storm'),
  actor_id: IdFilter.optional().describe('Only incidents about actions of this actor'),
  customer_id: CustomerFilter,
  q: SearchText.optional().describe(
    'Only the incident with this id, or incidents whose refund or cancellation has an id, customer or amount that begins with this text, as in `GET /v1/search`. Needs `project_id`. At most 500 are found: give more of the text then',
  ),
  fold_storms: BooleanFilter.optional().describe(
    'true: of each storm only its newest incident that fits, with `storm`. Not with `storm_id`, `q` or `customer_id`',
  ),
  from: TimeFilter.optional().describe('Only incidents that were opened at this time or later'),
  to: TimeFilter.optional().describe('Only incidents that were opened before this time'),
})

const silence = SilenceSummary.nullable().describe(
  'The silence during which the incident opened: no channel was notified of it. Null if there was none',
)

/** An incident as the API shows it. */
export const ShownIncident = Incident.extend({
  actor_name: z.string().optional().describe('The name that people gave to the actor; absent without one'),
  account: z
    .string()
    .optional()
    .describe('The connected account of its action; absent for the account of the connection itself'),
  trace_id: z
    .string()
    .optional()
    .describe('The trace of the message that opened the incident; absent if traces were off'),
})
export type ShownIncident = z.infer<typeof ShownIncident>

/** What an incident is about, as lists show it. */
const AboutAction = Action.pick({
  kind: true,
  subject: true,
  amount: true,
  currency: true,
  customer: true,
  origin: true,
  authorization_released: true,
})

/** What to do, in the words of the dashboard of the provider. */
export const NextSteps = z.object({ sentence: z.string(), steps: z.array(z.string()) })

/** An incident with its action, its timeline and the deliveries of its alerts. */
export const IncidentWithTimeline = ShownIncident.extend({
  action: Action.nullable(),
  timeline: z.array(TimelineEntry),
  next_steps: NextSteps.nullable().describe(
    'What to do about the unexplained action at its provider; null for every other incident',
  ),
  silence,
  deliveries: z.array(AlertDelivery),
})
export type IncidentWithTimeline = z.infer<typeof IncidentWithTimeline>

const Note = z.string().trim().min(1).max(1_000)

/** The body of POST /v1/incidents/{id}/resolve. */
export const ResolveIncident = z
  .strictObject({
    reason: ResolveReason.describe('our_own_change also explains the action, so that its verdict becomes `explained`'),
    note: Note.optional().describe('Shown in the timeline and in incident.resolved'),
    explain: z
      .strictObject({ kind: z.literal('expected_change') })
      .optional()
      .describe('Changes nothing: the reason our_own_change always explains the action. Accepted for older programs'),
  })
  .refine(({ reason, explain }) => explain === undefined || reason === 'our_own_change', {
    path: ['explain'],
    message: 'Leave out explain unless the reason is our_own_change',
  })

/** The body of POST /v1/incidents/bulk. */
export const BulkIncidentChange = z.strictObject({
  project_id: z.string(),
  filter: z.strictObject({
    connection_id: z.string().optional(),
    code: IncidentCode.optional(),
    state: IncidentState.optional().describe('The state before the change; if omitted, every state that allows it'),
    opened_from: z.iso.datetime({ offset: true }).optional(),
    opened_to: z.iso.datetime({ offset: true }).optional().describe('Exclusive; if omitted, the time of the request'),
  }),
  change: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('acknowledge') }),
    z.strictObject({ kind: z.literal('assign'), assignee: z.string().trim().min(1).max(200).nullable() }),
    z.strictObject({ kind: z.literal('resolve'), reason: ResolveReason, note: Note.optional() }),
    z.strictObject({ kind: z.literal('reopen') }),
    z.strictObject({ kind: z.literal('comment'), text: Note }),
  ]),
  dry_run: z.boolean().default(false).describe('Only counts the incidents, and changes nothing'),
})

/** What a bulk change would change. */
export const BulkPreview = z.object({
  dry_run: z.literal(true),
  opened_to: Timestamp.describe(
    'The end of the filter. The change is about the counted incidents only if its filter has it',
  ),
  count: z.int(),
  is_complete: z.boolean().describe('False if there are more than 10,000; then only the newest are counted'),
  money: z.array(z.object({ currency: Currency, amount: z.int(), count: z.int() })).describe('Minor units'),
  incidents: z.array(ShownIncident).describe('The newest 20'),
})

/** A bulk change and its progress. */
export const IncidentBulk = z.object({
  bulk_id: z.string(),
  project_id: z.string(),
  state: z.enum(['running', 'done']),
  changed: z.int(),
  refused: z.int().describe('Incidents whose state did not allow the change any more'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type IncidentBulk = z.infer<typeof IncidentBulk>

/** The body of POST /v1/incidents/{id}/assign. */
export const AssignIncident = z.strictObject({
  assignee: z.string().trim().min(1).max(200).nullable().describe('A person or team; null removes the assignee'),
})

/** The body of POST /v1/incidents/{id}/comments. */
export const IncidentComment = z.strictObject({ text: Note })

/** A storm as the API shows it: its incidents, counted now. */
export const StormOverview = z.object({
  storm_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  account: z
    .string()
    .optional()
    .describe(
      "The connected account of all its actions; absent for the connection's own account, and for many accounts",
    ),
  provider: ProviderKind,
  state: IncidentState.describe(
    'open if an incident is open, or none has joined the storm of a burst yet; acknowledged if none is open and one is acknowledged; resolved if all are resolved',
  ),
  began_at: Timestamp,
  last_at: Timestamp.describe('When the last incident joined'),
  ended_at: Timestamp.nullable().describe('When no further incidents joined; null while it goes on'),
  incidents: z.object({ open: z.int(), acknowledged: z.int(), resolved: z.int() }),
  money: z
    .array(z.object({ currency: Currency, amount: z.int(), count: z.int(), mode: ActionMode }))
    .describe('Minor units of the incidents with an amount, by currency and mode; test money last'),
  actor: z
    .object({ actor_id: z.string(), actor_name: z.string().optional(), incidents: z.int() })
    .nullable()
    .describe(
      'The actor of at least half of its incidents, with the name that people gave it; null if no actor has that many',
    ),
  bursts: z
    .array(StormBurst)
    .optional()
    .describe(
      'The incidents UNEXPLAINED_BURST that continue in this storm. They are not counted, and are changed with the storm',
    ),
})
export type StormOverview = z.infer<typeof StormOverview>

/** An incident as lists show it. */
export const ListedIncident = ShownIncident.extend({
  silence,
  action: AboutAction.nullable().describe('The refund or cancellation; null if the incident is about something else'),
  storm: StormOverview.optional().describe('The storm that the incident stands for; only with `fold_storms`'),
})
export type ListedIncident = z.infer<typeof ListedIncident>

/** A storm as GET /v1/storms/{id} shows it. */
export const StormWithSteps = StormOverview.extend({
  next_steps: NextSteps.nullable().describe('What to do at the provider; null if every incident is resolved'),
  deliveries: z.array(AlertDelivery).describe('Of the reports about the storm, and of the bursts that continue in it'),
})
export type StormWithSteps = z.infer<typeof StormWithSteps>
