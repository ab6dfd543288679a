import type { AlertChannel } from '@backstop/client'
import { useConnectionNames } from '../../api/connections.ts'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { DAYS, describeTarget, nameEvent } from './words.ts'

/** The settings of a channel for people who may not change them. */
export function ChannelFacts({ channel }: { channel: AlertChannel }) {
  const { config, events, filter, quiet_hours, shows_personal_data } = channel
  const names = useConnectionNames(channel.project_id)
  return (
    <Facts
      facts={[
        ['Sends to', describeTarget(config)],
        ['Events', events.map(nameEvent).join(', ')],
        ['Connections', filter?.connection_ids?.map(id => names.get(id) ?? id).join(', ') ?? 'All'],
        ['Kinds', filter?.kinds?.map(kind => (kind === 'refund' ? 'Refunds' : 'Cancellations')).join(', ') ?? 'All'],
        [
          'Smallest amounts',
          filter?.minimum_amounts == null
            ? 'None'
            : Object.entries(filter.minimum_amounts).map(([currency, amount]) => (
                <div key={currency}>
                  <Money amount={Number(amount)} currency={currency} />
                </div>
              )),
        ],
        [
          'Quiet hours',
          quiet_hours === null
            ? 'None'
            : `${quiet_hours.from} to ${quiet_hours.to}, ${quiet_hours.time_zone}, ${nameDays(quiet_hours.days)}`,
        ],
        ['Personal data', shows_personal_data ? 'Shown' : 'Not shown'],
      ]}
    />
  )
}

function nameDays(days: readonly string[] | null): string {
  if (days === null) return 'every day'
  return DAYS.filter(({ value }) => days.includes(value))
    .map(({ label }) => label)
    .join(', ')
}
