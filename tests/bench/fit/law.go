package fit

import "math"

// Point is one measurement: what Y was at X.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Line is y = Intercept + Slope*x.
type Line struct {
	Slope, Intercept float64
	// R2 is the share of the variance that the line explains, 1 when all points lie on it.
	R2 float64
	// Points is how many points the line was drawn through; 0 means that there is none.
	Points int
}

// Power is y = Factor * x^Exponent. Exponent 1 is linear growth, 0 none.
type Power struct {
	Exponent, Factor float64
	// R2 is that of the line through the logarithms.
	R2 float64
	// Points is how many points the law was drawn through; 0 means that there is none.
	Points int
}

// At returns y at x.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }

// At returns y at x.
func (p Power) At(x float64) float64 { return p.Factor * math.Pow(x, p.Exponent) }

// Straight returns the line with the least squares. Two different x are the fewest.
func Straight(points []Point) Line {
	n := float64(len(points))
	var mx, my float64
	for _, p := range points {
		mx += p.X / n
		my += p.Y / n
	}
	var xx, xy, yy float64
	for _, p := range points {
		xx += (p.X - mx) * (p.X - mx)
		xy += (p.X - mx) * (p.Y - my)
		yy += (p.Y - my) * (p.Y - my)
	}
	if len(points) < 2 || xx == 0 {
		return Line{}
	}
	line := Line{Slope: xy / xx, R2: 1, Points: len(points)}
	line.Intercept = my - line.Slope*mx
	if yy > 0 {
		line.R2 = xy * xy / (xx * yy)
	}
	return line
}

// PowerLaw returns the law with the least squares of the logarithms. Points that are not above zero on both axes have none, and do not
// count.
func PowerLaw(points []Point) Power {
	var logs []Point
	for _, p := range points {
		if p.X > 0 && p.Y > 0 {
			logs = append(logs, Point{math.Log(p.X), math.Log(p.Y)})
		}
	}
	line := Straight(logs)
	if line.Points == 0 {
		return Power{}
	}
	return Power{Exponent: line.Slope, Factor: math.Exp(line.Intercept), R2: line.R2, Points: line.Points}
}
