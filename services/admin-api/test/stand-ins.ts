/** Stand-ins for the reconciler and the notifier in tests of the management API. */
import type {
  ActionDocument,
  Alert,
  ChannelHealthDocument,
  Command,
  DailyTotalsDocument,
  DeadLetterDocument,
  DeliveryAttempt,
  DeliveryDocument,
  DeliveryErasureDocument,
  DeliveryRequest,
  ErasureDocument,
  ExpectedChangeUsesDocument,
  InboxBodyDocument,
  InboxDocument,
  InboxReplayDocument,
  IncidentBulkDocument,
  IncidentDocument,
  IncidentOutcomeDocument,
  Operation,
  ProjectTotalsDocument,
  ReplayDocument,
  StormDocument,
  StormMemberDocument,
  SuppressionDocument,
  SweepDayDocument,
  SweepDocument,
} from '@backstop/contracts'
import type { Bus } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { createConsumerMetrics, createWorkLoop } from '@backstop/kit/consume'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import type { MessageCodec } from '@backstop/kit/registry'
import type { Collection } from '../src/store/collection.ts'

/** The collections of the other services. */
export interface OtherServicesCollections {
  readonly actions: Collection<ActionDocument>
  readonly incidents: Collection<IncidentDocument>
  readonly incidentOutcomes: Collection<IncidentOutcomeDocument>
  readonly incidentBulks: Collection<IncidentBulkDocument>
  readonly deliveries: Collection<DeliveryDocument>
  readonly channelHealth: Collection<ChannelHealthDocument>
  readonly replays: Collection<ReplayDocument>
  readonly stormMembers: Collection<StormMemberDocument>
  readonly storms: Collection<StormDocument>
  readonly suppressions: Collection<SuppressionDocument>
  readonly deadLetters: Collection<DeadLetterDocument>
  readonly inbox: Collection<InboxDocument>
  readonly inboxBodies: Collection<InboxBodyDocument>
  readonly inboxReplays: Collection<InboxReplayDocument>
  readonly erasures: Collection<ErasureDocument>
  readonly deliveryErasures: Collection<DeliveryErasureDocument>
  readonly sweeps: Collection<SweepDocument>
  readonly sweepDays: Collection<SweepDayDocument>
  readonly dailyTotals: Collection<DailyTotalsDocument>
  readonly projectTotals: Collection<ProjectTotalsDocument>
  readonly expectedChangeUses: Collection<ExpectedChangeUsesDocument>
}

/** The messages that the stand-ins received, and how they answer. */
export interface StandIns {
  /** Returns every published version of an operation. */
  published(operationId: string): readonly Operation[]
  /** Returns the published alerts of a project. */
  alerts(projectId: string): readonly Alert[]
  /** The published commands. */
  readonly commands: readonly Command[]
  /** Sets the receiver's answer to channel tests. If undefined, the stand-in of the notifier neither delivers nor obeys commands. */
  setReceiverAnswer(attempt: Partial<DeliveryAttempt> | undefined): void
  /** Returns the delivery requests that were published for a channel. */
  requested(channelId: string): readonly DeliveryDocument[]
}

/** Starts the stand-ins, which write to these collections. */
export async function startStandIns(
  bus: Bus,
  codec: MessageCodec,
  clock: Clock,
  others: OtherServicesCollections,
): Promise<{ readonly views: StandIns; stop(): Promise<void> }> {
  const operations: Operation[] = []
  const requests: DeliveryDocument[] = []
  const commands: Command[] = []
  const alerts: Alert[] = []
  let answer: Partial<DeliveryAttempt> | undefined = {}
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const loop = createWorkLoop({
    bus,
    producer,
    codec,
    clock,
    logger: createLogger('stand-in', 'silent'),
    metrics: createConsumerMetrics(createMetrics('stand-in')),
    groupId: 'stand-in',
    topics: { operations: 'operation', alerts: 'alert', deliveries: 'delivery-request', commands: 'command' },
    deadTopic: 'deliveries.dead',
    async handle(messages) {
      for (const received of messages) {
        if (received.name === 'operation') operations.push(received.message)
        else if (received.name === 'alert') alerts.push(received.message)
        else if (received.name === 'command') {
          commands.push(received.message)
          if (answer !== undefined) await applyCommand(received.message, others)
        } else if (answer !== undefined) {
          const document = attemptedDelivery(received.message, answer, clock.now())
          requests.push(document)
          await others.deliveries.put(document)
        }
      }
    },
    onFatal: error => {
      throw error
    },
  })
  await loop.start()
  const views: StandIns = {
    commands,
    alerts: projectId => alerts.filter(({ project_id }) => project_id === projectId),
    published: operationId => operations.filter(({ operation_id }) => operation_id === operationId),
    requested: channelId => requests.filter(({ channel_id }) => channel_id === channelId),
    setReceiverAnswer: attempt => {
      answer = attempt
    },
  }
  return {
    views,
    async stop() {
      await loop.stop()
      await producer.stop()
    },
  }
}

/** Applies the effects of a command that answers of the API wait for. */
async function applyCommand(command: Command, others: OtherServicesCollections): Promise<void> {
  const { channelHealth, suppressions } = others
  if (command.kind === 'change_incident') await changeIncident(command, others)
  if (command.kind === 'change_incidents') await others.incidentBulks.put(finishedBulk(command))
  if (command.kind === 'enable_channel') {
    const forgiven = { disabled_at: null, disabled_reason: null, disabled_incident_id: null, failing_since: null }
    await channelHealth.change({ _id: command.channel_id }, forgiven)
  }
  if (!('address' in command)) return
  const { project_id, address } = command
  const _id = `${project_id}/${address}`
  const at = new Date(command.requested_at)
  if (command.kind === 'unsuppress_address') await suppressions.remove({ _id })
  if (command.kind !== 'suppress_address') return
  const { reason, detail } = command
  await suppressions.insert({
    _id,
    project_id,
    address,
    reason,
    detail,
    soft_bounces: [],
    suppressed_at: at,
    updated_at: at,
  })
}

/** Stands in for the reconciler: the bulk change is done, and changed seven incidents. */
function finishedBulk({
  bulk_id: _id,
  project_id,
  selection,
  change,
  actor,
  requested_at,
}: Extract<Command, { kind: 'change_incidents' }>): IncidentBulkDocument {
  const at = new Date(requested_at)
  const progress = { state: 'done', changed: 7, refused: 1, cursor: null, version: 2 } as const
  return { _id, project_id, selection, change, actor, ...progress, next_page_at: at, requested_at: at, finished_at: at }
}

/** Stands in for the reconciler: changes the state of an incident, or refuses a change that its state does not allow. */
async function changeIncident(
  { command_id, project_id, incident_id, change, actor, requested_at }: Extract<Command, { kind: 'change_incident' }>,
  { incidents, incidentOutcomes }: OtherServicesCollections,
): Promise<void> {
  const known = await incidents.find({ _id: incident_id, project_id })
  const allowed = { acknowledge: ['open'], resolve: ['open', 'acknowledged'], reopen: ['resolved'] }
  const isRefused =
    known === undefined || (change.kind in allowed && !allowed[change.kind as 'reopen'].includes(known.state))
  if (!isRefused) {
    await incidents.change(
      { _id: incident_id },
      {
        ...(change.kind === 'acknowledge' ? { state: 'acknowledged', acknowledged_by: actor.name } : {}),
        ...(change.kind === 'resolve'
          ? { state: 'resolved', resolved_by: actor.name, reason: change.reason, note: change.note }
          : {}),
        ...(change.kind === 'reopen' ? { state: 'open', resolved_by: null, reopened: (known.reopened ?? 0) + 1 } : {}),
        ...(change.kind === 'assign' ? { assignee: change.assignee } : {}),
        changes: [
          ...(known.changes ?? []),
          {
            at: requested_at,
            what: 'incident_commented',
            id: incident_id,
            text: JSON.stringify(change),
            by: actor,
            command_id,
            version: known.version + 1,
          },
        ],
        version: known.version + 1,
      },
    )
  }
  await incidentOutcomes.put({
    _id: command_id,
    project_id,
    incident_id,
    outcome: isRefused ? 'refused' : 'changed',
    reason: isRefused ? 'state' : null,
    detail: isRefused ? `The incident was ${known?.state} by ${actor.name}` : null,
    at: new Date(requested_at),
  })
}

function attemptedDelivery(request: DeliveryRequest, answer: Partial<DeliveryAttempt>, now: number): DeliveryDocument {
  const at = new Date(now)
  const attempt: DeliveryAttempt = {
    attempt: request.attempt,
    at,
    duration_ms: 12.4,
    outcome: 'delivered',
    status: 200,
    error: null,
    response: 'ok',
    ...answer,
  }
  return {
    _id: request.delivery_id,
    project_id: request.project_id,
    channel_id: request.channel_id,
    channel_kind: 'webhook',
    alert_id: request.alert.alert_id,
    event: request.alert.event,
    test: request.test,
    state: attempt.outcome === 'delivered' ? 'delivered' : 'dead',
    reason: '',
    attempts: [attempt],
    next_attempt: null,
    alert: request.alert,
    created_at: at,
    updated_at: at,
  }
}
