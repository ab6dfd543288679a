import { type DayRange, nameRange, rangeOptions, rangeValue } from './day-range.ts'
import { DayFilter, SearchChoiceFilter } from './filter-bar.tsx'

interface Props {
  /** What the range is for, for example `Period`. */
  label: string
  value: DayRange | undefined
  onChange: (range: Partial<DayRange> | undefined) => void
}

/** A period of whole days in UTC: one of those that people ask for, or a first and a last day. */
export function RangeFilter({ label, value, onChange }: Props) {
  const options = rangeOptions(Date.now())
  const chosen = value && rangeValue(value)
  const isKnown = chosen === undefined || options.some(option => option.value === chosen)
  const all = isKnown ? options : [{ value: chosen, label: nameRange(value as DayRange) }, ...options]
  return (
    <>
      <SearchChoiceFilter
        label={label}
        options={all}
        value={chosen}
        onChange={text => {
          const [from, to] = text?.split('/') ?? []
          onChange(from === undefined || to === undefined ? undefined : { from, to })
        }}
      />
      {value !== undefined && (
        <>
          <DayFilter label="From" value={value.from} onChange={from => from && onChange({ from })} />
          <DayFilter label="To" value={move(value.to, -1)} onChange={last => last && onChange({ to: move(last, 1) })} />
        </>
      )}
    </>
  )
}

/** A day moved by whole days: people name the last day, and a range ends before the day after it. */
function move(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
