import { Checkbox, Select, Switch, TextInput } from '@mantine/core'
import classes from './channel-form.module.css'
import type { Draft } from './draft.ts'
import { DAYS } from './words.ts'

type QuietHours = NonNullable<Draft['quietHours']>

const ZONES = Intl.supportedValuesOf('timeZone')

/** The hours in which nothing is sent. */
export function QuietHoursFields({
  value,
  onChange,
}: {
  value: QuietHours | null
  onChange: (value: QuietHours | null) => void
}) {
  return (
    <div className={classes.quiet}>
      <Switch
        size="sm"
        label="Quiet hours"
        description="Alerts wait, and arrive as one digest at the end. Keep one channel without quiet hours"
        checked={value !== null}
        onChange={event => onChange(event.currentTarget.checked ? defaultHours() : null)}
      />
      {value !== null && (
        <>
          <div className={classes.times}>
            <TextInput
              label="From"
              type="time"
              value={value.from}
              onChange={event => onChange({ ...value, from: event.currentTarget.value })}
            />
            <TextInput
              label="To"
              type="time"
              value={value.to}
              onChange={event => onChange({ ...value, to: event.currentTarget.value })}
            />
          </div>
          <Select
            label="Time zone"
            searchable
            limit={50}
            data={ZONES.includes(value.time_zone) ? ZONES : [value.time_zone, ...ZONES]}
            value={value.time_zone}
            onChange={zone => zone !== null && onChange({ ...value, time_zone: zone })}
          />
          <Checkbox.Group
            label="They begin on"
            value={value.days ?? DAYS.map(day => day.value)}
            onChange={days => onChange({ ...value, days: days as QuietHours['days'] & string[] })}
          >
            <div className={classes.days}>
              {DAYS.map(day => (
                <Checkbox key={day.value} size="xs" value={day.value} label={day.label} />
              ))}
            </div>
          </Checkbox.Group>
        </>
      )}
    </div>
  )
}

function defaultHours(): QuietHours {
  return { time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone, from: '22:00', to: '07:00', days: null }
}
