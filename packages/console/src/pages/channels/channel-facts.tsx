import type { AlertChannel } from '@backstop/client'
import { useConnectionNames } from '../../api/connections.ts'
import { Facts, Money } from '../../parts/show/index.ts'
import { DAYS, describeTarget, nameEvent } from './words.ts'

/** The settings of a channel for people who may not change them. */
export function ChannelFacts({ channel }: { channel: AlertChannel }) {
  const { config, events, filter, quiet_hours, shows_personal_data } = channel
  const names = useConnectionNames(channel.project_id)
  const minimums = filter?.minimum_amounts ?? null
  return (
    <Facts
      facts={[
        ['Sends to', describeTarget(config)],
        ['Events', events.map(nameEvent).join(', ')],
        ['Connections', filter?.connection_ids?.map(id => names.get(id) ?? id).join(', ') ?? 'All'],
        ['Kinds', filter?.kinds?.map(kind => (kind === 'refund' ? 'Refunds' : 'Cancellations')).join(', ') ?? 'All'],
        [
          'Smallest amounts',
          minimums === null
            ? 'None'
            : Object.entries(minimums).map(([currency, amount]) => (
                <div key={currency}>
                  <Money amount={Number(amount)} currency={currency} />
                </div>
              )),
        ],
        ['Quiet hours', quiet_hours === null ? 'None' : describeHours(quiet_hours)],
        ['Personal data', shows_personal_data ? 'Shown' : 'Not shown'],
      ]}
    />
  )
}

function describeHours({ from, to, time_zone, days }: NonNullable<AlertChannel['quiet_hours']>): string {
  const named = DAYS.filter(({ value }) => days?.includes(value)).map(({ label }) => label)
  return [`${from} to ${to}`, time_zone, ...(days === null ? ['every day'] : named)].join(', ')
}
