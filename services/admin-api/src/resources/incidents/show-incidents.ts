import { type ActionDocument, findSilenceAt, type IncidentDocument, type ListedIncident } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'
import { nameActorsOfIncidents } from '../actors/name-actors.ts'
import { summarizeSilence } from '../silences/rules/silence.ts'
import { showIncident } from './rules/incident.ts'

/** The fields of an action that the list of incidents shows. */
const ABOUT = ['kind', 'subject', 'amount', 'currency', 'customer', 'origin', 'authorization_released'] as const
type AboutAction = Pick<ActionDocument, '_id' | (typeof ABOUT)[number]>

/** Incidents as lists show them: with their action, the storm that each belongs to, and the silence during which it opened. */
export async function showIncidents(
  stores: Pick<ReadCollections, 'actions' | 'actors' | 'connections' | 'stormMembers' | 'storms' | 'silences'>,
  documents: readonly IncidentDocument[],
): Promise<ListedIncident[]> {
  if (documents.length === 0) return []
  const connectionIds = [...new Set(documents.flatMap(({ connection_id }) => connection_id ?? []))]
  const opened = documents.map(one => Date.parse(one.opened_at))
  const firstAt = new Date(opened.reduce((one, other) => Math.min(one, other)))
  const [named, about, stormIds, ended] = await Promise.all([
    nameActorsOfIncidents(stores, documents),
    readActions(stores.actions, documents),
    readStormIds(stores, documents),
    connectionIds.length === 0
      ? []
      : stores.silences.findAll({ connection_id: { in: connectionIds }, ends_at: { min: firstAt } }),
  ])
  const ofConnection = Map.groupBy(ended, ({ connection_id }) => connection_id)
  return named.map(document => {
    const candidates = ofConnection.get(document.connection_id ?? '') ?? []
    const silence = findSilenceAt(candidates, new Date(document.opened_at))
    return {
      ...showIncident(document, stormIds.get(document._id)),
      silence: silence === undefined ? null : summarizeSilence(silence),
      action: about.get(document.action_id ?? '') ?? null,
    }
  })
}

/** The storms of these incidents, by the id of the incident. A burst has the storm that it began, as long as this exists. */
export async function readStormIds(
  { stormMembers, storms }: Pick<ReadCollections, 'stormMembers' | 'storms'>,
  documents: readonly IncidentDocument[],
): Promise<ReadonlyMap<string, string>> {
  const ofBursts = documents.flatMap(({ burst, storm_id }) => (burst === undefined ? [] : (storm_id ?? [])))
  const [members, begun] = await Promise.all([
    stormMembers.findAll({ _id: { in: documents.map(({ _id }) => _id) } }),
    ofBursts.length === 0 ? [] : storms.findAll({ _id: { in: ofBursts } }),
  ])
  const known = new Map(members.flatMap(({ _id, storm_id }) => (storm_id === null ? [] : [[_id, storm_id] as const])))
  for (const { _id, bursts = [] } of begun) for (const { incident_id } of bursts) known.set(incident_id, _id)
  return known
}

async function readActions(
  actions: ReadCollections['actions'],
  documents: readonly IncidentDocument[],
): Promise<ReadonlyMap<string, Omit<AboutAction, '_id'>>> {
  const found = new Map<string, Omit<AboutAction, '_id'>>()
  const ids = documents.flatMap(({ action_id }) => action_id ?? [])
  if (ids.length === 0) return found
  for await (const batch of actions.batches({ _id: { in: ids } }, ABOUT)) {
    for (const { _id, customer = null, ...about } of batch) found.set(_id, { ...about, customer })
  }
  return found
}
