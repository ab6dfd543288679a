import { findSilenceAt, type IncidentDocument, type ListedIncident } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'
import { summarizeSilence } from '../silences/rules/silence.ts'
import { showIncident } from './rules/incident.ts'

/** Incidents as lists show them: with the storm that each belongs to, and the silence during which it opened. */
export async function showIncidents(
  { stormMembers, silences }: Pick<ReadCollections, 'stormMembers' | 'silences'>,
  documents: readonly IncidentDocument[],
): Promise<ListedIncident[]> {
  if (documents.length === 0) return []
  const connectionIds = [...new Set(documents.flatMap(({ connection_id }) => connection_id ?? []))]
  const opened = documents.map(one => Date.parse(one.opened_at))
  const firstAt = new Date(opened.reduce((one, other) => Math.min(one, other)))
  const [members, ended] = await Promise.all([
    stormMembers.findAll({ _id: { in: documents.map(({ _id }) => _id) } }),
    connectionIds.length === 0
      ? []
      : silences.findAll({ connection_id: { in: connectionIds }, ends_at: { min: firstAt } }),
  ])
  const memberOf = new Map(members.map(member => [member._id, member]))
  const ofConnection = Map.groupBy(ended, ({ connection_id }) => connection_id)
  return documents.map(document => {
    const candidates = ofConnection.get(document.connection_id ?? '') ?? []
    const silence = findSilenceAt(candidates, new Date(document.opened_at))
    return {
      ...showIncident(document, memberOf.get(document._id)),
      silence: silence === undefined ? null : summarizeSilence(silence),
    }
  })
}
