import { Button, Stack, TextInput } from '@mantine/core'
import { handleSubmit, useFields } from '../form/use-fields.ts'
import { PopoverFilter } from './filter-bar.tsx'
import { dateOf, describePeriod, startOfDay } from './period.ts'

interface Period {
  from?: string | undefined
  to?: string | undefined
}

const PRESETS = [
  { days: 1, label: 'Last 24 hours' },
  { days: 7, label: 'Last 7 days' },
  { days: 30, label: 'Last 30 days' },
] as const
const DAY_MS = 24 * 60 * 60_000

interface Props {
  label: string
  value: Period
  onChange: (value: Period) => void
}

/** A filter by whole days in the zone of the reader, or by a period that ends now. */
export function TimeFilter({ label: name, value, onChange }: Props) {
  const label = describePeriod(value)
  return (
    <PopoverFilter label={label === undefined ? name : `${name}: ${label}`} isSet={label !== undefined}>
      {close => {
        const choose = (period: Period) => {
          onChange(period)
          close()
        }
        return (
          <>
            {PRESETS.map(({ days, label }) => (
              <Button
                key={days}
                variant="default"
                onClick={() => choose({ from: new Date(Date.now() - days * DAY_MS).toISOString(), to: undefined })}
              >
                {label}
              </Button>
            ))}
            <DaysForm value={value} onApply={choose} />
            <Button variant="default" onClick={() => choose({ from: undefined, to: undefined })}>
              Any time
            </Button>
          </>
        )
      }}
    </PopoverFilter>
  )
}

function DaysForm({ value: { from, to }, onApply }: { value: Period; onApply: (value: Period) => void }) {
  const { fields, field } = useFields({
    first: from === undefined ? '' : dateOf(from),
    last: to === undefined ? '' : dateOf(to, -1),
  })
  const { first, last } = fields
  const isReversed = first !== '' && last !== '' && last < first
  const apply = () => {
    if (!isReversed) onApply({ from: startOfDay(first, 0), to: startOfDay(last, 1) })
  }
  return (
    <form onSubmit={handleSubmit(apply)}>
      <Stack gap="sm">
        <TextInput type="date" label="From" {...field('first')} />
        <TextInput
          type="date"
          label="To, inclusive"
          error={isReversed ? 'Choose a day after the first' : undefined}
          {...field('last')}
        />
        <Button type="submit" disabled={isReversed || (first === '' && last === '')}>
          Apply
        </Button>
      </Stack>
    </form>
  )
}
