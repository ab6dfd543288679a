import { wait } from '../world/agenda.ts'
import { type Account, rotateSecret, secretsOf } from './accounts.ts'
import type { Json } from './api-user.ts'
import { openChannel } from './customer.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { make } from './software.ts'
import type { AccountTruth, Ground, Intervention, Moment, Received } from './truth.ts'
import { confirmed, type World } from './world.ts'

/** Changes that people make through the API. Each returns what it did, or undefined if there was nothing to do. */
const ACTIONS = [
  changeIncident,
  changeIncident,
  claimIncident,
  expectAlerted,
  silence,
  silence,
  silence,
  changeSetting,
  changeSetting,
  rotate,
  replaceChannel,
  acknowledgeStorm,
] as const

export function drawPeople(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'person', count: scene.world.swarm().people }, async own => {
    const did = await own.random.pick(ACTIONS)(own)
    if (did !== undefined) own.world.happened(`a person: ${did}`)
  })
}

async function changeIncident({ world, random, customers }: Scene): Promise<string | undefined> {
  const incident = await pickIncident(world, random.pick(customers).projectId, random.next())
  if (incident === undefined) return undefined
  const kind = random.pick(['acknowledge', 'resolve', 'comment'] as const)
  const body = { acknowledge: {}, resolve: { reason: 'duplicate' }, comment: { text: 'Called the bank' } }[kind]
  const intervention: Intervention = { incidentId: String(incident.incident_id), kind, at: { fromMs: world.clock.now } }
  world.truth.interventions.push(intervention)
  const path = `/v1/incidents/${incident.incident_id}/${kind === 'comment' ? 'comments' : kind}`
  const { status } = await world.api.call('POST', path, body, world.api.newKey())
  if (status === 409) return `was too late to ${kind}`
  intervention.at.toMs = world.clock.now
  return kind
}

/** "This was us" resolves the incident and explains its change. */
async function claimIncident({ world, random, customers }: Scene): Promise<string | undefined> {
  const found = await pickDeed(world, random.pick(customers).projectId, random.next())
  if (found === undefined) return undefined
  const ground: Ground = { reason: 'this was us', explains: true, begins: { fromMs: world.clock.now } }
  found.deed.grounds.push(ground)
  const path = `/v1/incidents/${found.incident.incident_id}/resolve`
  const { status } = await world.api.call('POST', path, { reason: 'our_own_change' }, world.api.newKey())
  if (status === 409) return 'was too late to claim a change'
  ground.begins.toMs = world.clock.now
  return 'claimed a change'
}

/** A person adds an expected change for a change that has alerted already. */
async function expectAlerted({ world, random, customers }: Scene): Promise<string | undefined> {
  const { projectId } = random.pick(customers)
  const found = await pickDeed(world, projectId, random.next())
  if (found === undefined) return undefined
  const { kind, subject, amount, currency } = found.action
  const ground: Ground = { reason: 'a late expected change', explains: true, begins: { fromMs: world.clock.now } }
  found.deed.grounds.push(ground)
  const body = {
    project_id: projectId,
    kind,
    subject,
    note: 'Forgot to say',
    ...(kind === 'refund' ? { amount, currency } : {}),
  }
  await confirmed(world, ground.begins, world.api.post('/v1/expected-changes', body))
  return 'expected a change that had alerted'
}

async function silence({ world, random, customers }: Scene): Promise<string | undefined> {
  return withAccount({ world, random, customers }, async ({ truth, endpoint }) => {
    const { api, clock, swarm } = world
    const skewMs = 2 * swarm().clockMs
    const begins: Moment = { fromMs: clock.now - skewMs }
    const ground: Ground = { reason: 'a silence', explains: false, begins }
    truth.grounds.push(ground)
    const seconds = random.between(60, 90)
    const made = await api.post('/v1/silences', {
      project_id: truth.projectId,
      connection_id: endpoint.connectionId,
      duration_seconds: seconds,
      reason: 'A migration',
    })
    begins.toMs = clock.now + skewMs
    const endMs = clock.now + seconds * 1_000
    const ends: Moment = { fromMs: begins.fromMs + seconds * 1_000, toMs: endMs + skewMs }
    ground.ends = ends
    makeUnexplained({ world, random, customers }, truth)
    const isEnded = random.chance(0.5)
    await wait(clock, isEnded ? random.between(1_000, (seconds * 1_000) / 2) : seconds * 1_000)
    if (!isEnded) return 'silenced an account'
    // It may have ended by itself: its time began with the first of the repeated requests.
    const ended: Moment = { fromMs: Math.min(ends.fromMs, clock.now - skewMs), toMs: ends.toMs }
    ground.ends = ended
    const { status } = await api.call('DELETE', `/v1/silences/${made.silence_id}`)
    if (status < 300) ended.toMs = clock.now + skewMs
    return 'ended a silence'
  })
}

/** Mostly a stranger changes something at this account meanwhile. */
function makeUnexplained(
  { world, random, customers }: Pick<Scene, 'world' | 'random' | 'customers'>,
  account: AccountTruth,
): void {
  const changes = customers
    .flatMap(customer => customer.changes)
    .filter(({ accounts, kind }) => accounts[0]?.truth === account && accounts.length === 1 && kind.canLoseEvents)
  if (changes.length === 0 || random.chance(0.3)) return
  const change = random.pick(changes)
  make({ world, random, kind: change.kind, change, prepared: change.kind.prepare(random.between(20_000, 90_000)) })
}

/** Sets `out_of_band` to another value and back. */
async function changeSetting({ world, random, customers }: Scene): Promise<string | undefined> {
  return withAccount({ world, random, customers }, async account => {
    const value = random.pick(['ignore', 'auto'] as const)
    await whileSetTo(value, { world, account }, () => {
      makeUnexplained({ world, random, customers }, account.truth)
      return wait(world.clock, random.between(30_000, 90_000))
    })
    return `set out_of_band to ${value}`
  })
}

/** Sets `out_of_band` of an account to another value while something happens. */
export async function whileSetTo(
  value: 'ignore' | 'auto',
  { world, account }: { readonly world: World; readonly account: Account },
  act: () => Promise<void>,
): Promise<void> {
  const { api, clock } = world
  const { truth, endpoint } = account
  const path = `/v1/projects/${truth.projectId}/connections/${endpoint.connectionId}`
  const ground = settingGround(truth, value, { fromMs: clock.now })
  truth.grounds.push(ground)
  await confirmed(world, ground.begins, api.patch(path, { out_of_band: value }))
  await act()
  const changed: Moment = { fromMs: clock.now }
  ground.ends = changed
  await confirmed(world, changed, api.patch(path, { out_of_band: 'alert' }))
}

/** With `auto` an account stays silent only until an operation has acted on it. */
function settingGround(account: Account['truth'], value: 'ignore' | 'auto', begins: Moment): Ground {
  let changed: Moment | undefined
  return {
    reason: `out_of_band is ${value}`,
    explains: false,
    isSetting: true,
    begins,
    get ends() {
      const acted = value === 'auto' ? account.acted : undefined
      return acted !== undefined && acted.fromMs < (changed?.fromMs ?? Number.POSITIVE_INFINITY) ? acted : changed
    },
    set ends(moment: Moment | undefined) {
      changed = moment
    },
  }
}

/** Rotates the secret of an account's notifications. The provider uses the old one for a while, which may be refused already. */
async function rotate({ world, random, customers }: Scene): Promise<string | undefined> {
  return withAccount({ world, random, customers }, async account => {
    const overlapSeconds = random.pick([undefined, 0])
    const destinationSecret = `pdl_ntfset_01j0000000000000000000000_${random.between(0, 2 ** 31)}`
    const credential = await rotateSecret(world.api, account, { destinationSecret, overlapSeconds })
    await wait(world.clock, random.between(0, 20_000))
    account.endpoint.credential = credential
    world.truth.secrets.push(...secretsOf(account))
    return overlapSeconds === 0 ? 'rotated a secret without overlap' : 'rotated a secret'
  })
}

/** Deletes the second receiver's channel, and makes one for another receiver. */
async function replaceChannel({ world, random, customers }: Scene): Promise<string | undefined> {
  const { projectId, hosts } = random.pick(customers)
  const channel = world.truth.channels.find(({ host, ends }) => host === hosts.at(-1) && ends === undefined)
  if (channel === undefined) return undefined
  channel.ends = { fromMs: world.clock.now }
  await confirmed(world, channel.ends, world.api.delete(`/v1/alert-channels/${channel.channelId}`))
  await openChannel(world, projectId, `https://third.${channel.host}/alerts`)
  return 'replaced a channel'
}

async function acknowledgeStorm({ world, random, customers }: Scene): Promise<string | undefined> {
  const { projectId } = random.pick(customers)
  const { data } = await world.api.get(`/v1/storms?project_id=${projectId}`)
  const [storm] = data as Json[]
  if (storm === undefined) return undefined
  const path = `/v1/incidents/${storm.storm_id}/acknowledge`
  await world.api.call('POST', path, {}, world.api.newKey())
  return 'acknowledged a storm'
}

/** Changes one account, unless another person is changing it. */
async function withAccount(
  scene: Pick<Scene, 'world' | 'random' | 'customers'>,
  act: (account: Account) => Promise<string>,
): Promise<string | undefined> {
  const account = pickAccount(scene)
  if (account.isBeingChanged || !account.isConnected) return undefined
  account.isBeingChanged = true
  const did = await act(account)
  account.isBeingChanged = false
  return did
}

/** Mostly an account at which something changed within the last minute, so that the second look comes during what people do. */
function pickAccount({ world, random, customers }: Pick<Scene, 'world' | 'random' | 'customers'>): Account {
  const accounts = customers.flatMap(customer => customer.accounts)
  const changed = new Set(
    world.truth.deeds
      .filter(({ atMs, mustAlert }) => mustAlert && atMs > world.clock.now - 50_000)
      .flatMap(deed => deed.accounts),
  )
  const busy = accounts.filter(({ truth }) => changed.has(truth))
  return random.pick(busy.length > 0 && random.chance(0.7) ? busy : accounts)
}

/** People look for incidents when they are alerted. */
async function pickIncident(world: World, projectId: string, chosen: number): Promise<Json | undefined> {
  await untilAlerted(world, projectId)
  const { data } = await world.api.get(`/v1/incidents?project_id=${projectId}&state=open`)
  const incidents = data as Json[]
  return incidents[Math.floor(chosen * incidents.length)]
}

const LOOKS_EVERY_MS = 2_000
const LOOKS_FOR_MS = 90_000

async function untilAlerted({ clock, truth }: World, projectId: string): Promise<void> {
  const begunMs = clock.now
  const isAlert = ({ atMs, body }: Received) =>
    atMs > begunMs - LOOKS_FOR_MS && body.includes(projectId) && body.includes('"incident.opened"')
  while (!truth.received.some(isAlert) && clock.now < begunMs + LOOKS_FOR_MS) await wait(clock, LOOKS_EVERY_MS)
}

/** An alerted change that nothing explains as yet. */
async function pickDeed(world: World, projectId: string, chosen: number) {
  const picked = await pickIncident(world, projectId, chosen)
  if (picked === undefined || picked.action_id === null) return undefined
  const incident = await world.api.get(`/v1/incidents/${picked.incident_id}`)
  const action = incident.action as Json | null
  // A burst is about many actions.
  if (action === null) return undefined
  const isIt = (names: readonly string[]) => names.includes(String(action.provider_ref))
  const deed = world.truth.deeds.find(known => known.projectId === projectId && isIt(known.names))
  return deed === undefined || picked.code !== 'UNEXPECTED_ACTION' ? undefined : { deed, incident, action }
}
