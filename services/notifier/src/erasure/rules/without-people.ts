import { withoutPersonalData } from '@backstop/channels'
import type { Alert } from '@backstop/contracts'

/**
 * The alert without the name and e-mail address of the customer and without the user of the provider's dashboard. Returns the same
 * alert if it has none of them.
 */
export function withoutPeople(alert: Alert): Alert {
  const known = withoutPersonalData(alert)
  if (known.event === 'storm.reported') {
    const { storm } = known.data
    if (storm.common.user === null) return known
    return { ...known, data: { ...known.data, storm: { ...storm, common: { ...storm.common, user: null } } } }
  }
  if (!('action' in known.data) || known.data.action?.origin?.user == null) return known
  const { action } = known.data
  // TypeScript does not see that `data` keeps the type of its event.
  return { ...known, data: { ...known.data, action: { ...action, origin: { ...action.origin, user: null } } } } as Alert
}
