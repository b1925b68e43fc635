//! Several tasks on several threads, and durations in words.

use std::time::Duration;

/// Seconds until the last of these tasks ends, when each of `jobs` threads takes the next as it becomes free.
pub fn makespan(tasks: impl IntoIterator<Item = f64>, jobs: usize) -> f64 {
    let mut free_at = vec![0.0_f64; jobs.max(1)];
    for task in tasks {
        let earliest = free_at
            .iter_mut()
            .min_by(|a, b| a.total_cmp(b))
            .expect("at least one thread");
        *earliest += task;
    }
    free_at.into_iter().fold(0.0, f64::max)
}

/// A duration as a person says it: `12 s`, `3 min 20 s`, `4 h 10 min`, `3 d 4 h`.
pub fn format_duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "?".to_string();
    }
    let s = Duration::from_secs_f64(seconds.clamp(0.0, 1e12))
        .as_secs_f64()
        .round() as u64;
    let two = |big: u64, big_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{big} {big_unit}"),
        _ => format!("{big} {big_unit} {small} {small_unit}"),
    };
    match s {
        0 if seconds > 0.0 => "< 1 s".to_string(),
        0..60 => format!("{s} s"),
        60..3600 => two(s / 60, "min", s % 60, "s"),
        3600..86_400 => two(s / 3600, "h", s % 3600 / 60, "min"),
        _ => two(s / 86_400, "d", s % 86_400 / 3600, "h"),
    }
}

/// A duration as a clock: `0:23`, `12:07`, `1:02:03`, and `3 d 4 h` from a day on.
pub fn clock(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-:--".to_string();
    }
    let s = seconds.clamp(0.0, 1e12).round() as u64;
    match s {
        0..3600 => format!("{}:{:02}", s / 60, s % 60),
        3600..86_400 => format!("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60),
        _ => format_duration(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makespan_follows_the_queue() {
        assert_eq!(makespan([3.0, 2.0, 2.0], 2), 4.0);
        assert_eq!(makespan([3.0, 2.0, 2.0], 1), 7.0);
        assert_eq!(makespan([3.0, 2.0], 8), 3.0);
        assert_eq!(makespan([], 2), 0.0);
    }

    #[test]
    fn durations_read_well() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.2, "< 1 s"),
            (59.4, "59 s"),
            (60.0, "1 min"),
            (200.0, "3 min 20 s"),
            (15_000.0, "4 h 10 min"),
            (273_600.0, "3 d 4 h"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(format_duration(seconds), text);
        }
        assert_eq!(clock(23.0), "0:23");
        assert_eq!(clock(3723.0), "1:02:03");
        assert_eq!(clock(f64::INFINITY), "-:--");
    }
}
