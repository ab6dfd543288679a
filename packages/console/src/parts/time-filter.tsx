import { Button, Group, Popover, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import classes from './filters.module.css'
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
  const [isOpen, setIsOpen] = useState(false)
  const label = describePeriod(value)
  const choose = (period: Period) => {
    onChange(period)
    setIsOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          className={classes.choice}
          data-is-set={label !== undefined || undefined}
          onClick={() => setIsOpen(open => !open)}
        >
          {label === undefined ? name : `${name}: ${label}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm" w={240}>
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
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function DaysForm({ value, onApply }: { value: Period; onApply: (value: Period) => void }) {
  const [first, setFirst] = useState(value.from === undefined ? '' : dateOf(value.from))
  const [last, setLast] = useState(value.to === undefined ? '' : dateOf(value.to, -1))
  const isReversed = first !== '' && last !== '' && last < first
  const apply = (event: FormEvent) => {
    event.preventDefault()
    if (isReversed) return
    onApply({ from: startOfDay(first, 0), to: startOfDay(last, 1) })
  }
  return (
    <form onSubmit={apply}>
      <Stack gap="sm">
        <TextInput type="date" label="From" value={first} onChange={event => setFirst(event.currentTarget.value)} />
        <TextInput
          type="date"
          label="To, inclusive"
          value={last}
          onChange={event => setLast(event.currentTarget.value)}
          error={isReversed ? 'Choose a day after the first' : undefined}
        />
        <Group grow>
          <Button type="submit" disabled={isReversed || (first === '' && last === '')}>
            Apply
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
